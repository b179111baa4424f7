export const dynamic = 'force-dynamic';

// The page calls its API over HTTP. Pages do so if they were written before both became one program.
export default async function Page() {
  const response = await fetch(`http://localhost:${process.env.PORT ?? 3000}/api/greeting`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`the API answers ${response.status}`);
  const { greeting } = await response.json();
  return <h1>{greeting}</h1>;
}

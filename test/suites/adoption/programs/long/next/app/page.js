export const dynamic = 'force-dynamic';

// This web page calls the API of its own program over HTTP. The page and the API were two programs before.
export default async function Page() {
  const response = await fetch(`http://localhost:${process.env.PORT ?? 3000}/api/greeting`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`the API answers ${response.status}`);
  const { greeting } = await response.json();
  return <h1>{greeting}</h1>;
}

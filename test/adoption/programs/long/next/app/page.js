export const dynamic = 'force-dynamic';

// As pages do that were written before their API moved into the same program.
export default async function Page() {
  const response = await fetch(`http://localhost:${process.env.PORT ?? 3000}/api/greeting`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`the API answers ${response.status}`);
  const { greeting } = await response.json();
  return <h1>{greeting}</h1>;
}

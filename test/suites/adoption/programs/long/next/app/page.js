export const dynamic = 'force-dynamic';

// This page calls an HTTP API of the same program. In an earlier version of the application, the page and the API were
// two programs.
export default async function Page() {
  const response = await fetch(`http://localhost:${process.env.PORT ?? 3000}/api/greeting`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`the API answers ${response.status}`);
  const { greeting } = await response.json();
  return <h1>{greeting}</h1>;
}

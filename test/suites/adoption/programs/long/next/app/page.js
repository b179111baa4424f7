export const dynamic = 'force-dynamic';

// This page calls an HTTP API of its own program, like an application whose page and API were two programs in an
// earlier version.
export default async function Page() {
  const response = await fetch(`http://localhost:${process.env.PORT ?? 3000}/api/greeting`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`the API answers ${response.status}`);
  const { greeting } = await response.json();
  return <h1>{greeting}</h1>;
}

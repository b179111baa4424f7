export const dynamic = 'force-dynamic';

export default function Page() {
  return <h1>hello</h1>;
}

// `await using` for tests: Node 22 does not know the syntax yet.
import type { TestContext } from 'node:test';

/** disposed has the resource disposed of when the test ends, whatever became of it. */
export function disposed<Resource extends AsyncDisposable>(test: TestContext, resource: Resource): Resource {
  test.after(() => resource[Symbol.asyncDispose]());
  return resource;
}

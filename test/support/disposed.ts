// disposed replaces `await using` in tests, because Node 22 does not support this syntax.
import type { TestContext } from 'node:test';

/** `disposed()` disposes of the resource when the test ends, whether it passes or fails. */
export function disposed<Resource extends AsyncDisposable>(test: TestContext, resource: Resource): Resource {
  test.after(() => resource[Symbol.asyncDispose]());
  return resource;
}

import assert from 'node:assert/strict';
import { serve } from './serve.mjs';

describe('the server', () => {
  it('serves', async () => {
    assert.equal(await serve(), 'hello');
  });
});

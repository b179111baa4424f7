import { expect, test } from 'vitest';
import { serve } from './serve.mjs';

test('serves', async () => {
  expect(await serve()).toBe('hello');
});

// Tests unusual cases of the lint rules about containers. The examples in docs/lint.md test the usual cases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

test('H-077 the image auto, which the injector of Istio replaces, needs no tag', () => {
  const isReported = (image: string): boolean =>
    findingsIn(`kind: Pod\nspec: { containers: [{ name: proxy, image: ${image} }] }`).some(
      ({ rule }) => rule === 'moving-image-tag',
    );
  assert.equal(isReported('auto'), false);
  assert.equal(isReported('istio/auto'), true);
});

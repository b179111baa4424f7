// Tests that `lameduck probe grpc` encodes and decodes the messages of a health check in the same way as the package
// grpc-health-check.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service as health } from 'grpc-health-check';
import { requestOf, statusIn } from '../../src/cli/health-message.ts';

interface Method {
  requestDeserialize(bytes: Buffer): { service: string };
  responseSerialize(reply: object): Buffer;
}

const check = health['Check'] as unknown as Method;

/** `frame()` puts the five-byte prefix of gRPC before a message. */
function frame(message: Iterable<number>): Buffer {
  const bytes = Buffer.from([...message]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

test('K-032 a gRPC health request can contain a service name of any length and in any script, and contains no name for the default service', () => {
  for (const service of ['livez', 'shop.Orders', 'é€😀', 'x'.repeat(127), 'x'.repeat(128), 'x'.repeat(20_000)]) {
    const request = requestOf(service);
    assert.equal(request[0], 0);
    assert.equal(request.readUInt32BE(1), request.length - 5);
    assert.deepEqual(check.requestDeserialize(request.subarray(5)), { service });
  }
  assert.deepEqual([...requestOf('')], [0, 0, 0, 0, 0]);
});

test('K-033 each gRPC health status is parsed from the bytes that the gRPC library encodes', () => {
  for (const status of ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']) {
    assert.equal(statusIn(frame(check.responseSerialize({ status }))), status);
  }
});

for (const [what, message, status] of [
  ['no field', [], 'UNKNOWN'],
  ['a status in more bytes than it needs', [0x08, 0x81, 0x80, 0x00], 'SERVING'],
  ['two statuses, of which the last counts', [0x08, 0x01, 0x08, 0x02], 'NOT_SERVING'],
  ['a status that is not in the list', [0x08, 0x07], 'ServingStatus 7'],
  ['a 64-bit status whose low 32 bits equal 1', [0x08, 0x81, 0x80, 0x80, 0x80, 0x10], 'ServingStatus 4294967297'],
  ['a negative status', [0x08, ...Array<number>(9).fill(0xff), 0x01], 'ServingStatus 18446744073709552000'],
  ['field 1 of another type', [0x0a, 0x01, 0x01], 'UNKNOWN'],
  ['other fields around the status', [0x10, 0x05, 0x08, 0x01, 0x1a, 0x02, 0x08, 0x02], 'SERVING'],
  ['fixed-length fields around the status', [0x11, 8, 2, 8, 2, 8, 2, 8, 2, 0x08, 0x01, 0x1d, 8, 2, 8, 2], 'SERVING'],
  ['field 17, whose tag has two bytes', [0x88, 0x01, 0x02, 0x08, 0x01], 'SERVING'],
  ['a tag without a value', [0x08], undefined],
  ['a varint that is cut off', [0x08, 0x81], undefined],
  ['a varint of eleven bytes', [0x08, ...Array<number>(10).fill(0x80), 0x01], undefined],
  ['a string field longer than the rest of the message', [0x08, 0x01, 0x12, 0x05, 0x00], undefined],
  [
    'a string field of the greatest possible length',
    [0x08, 0x01, 0x12, ...Array<number>(9).fill(0xff), 0x01],
    undefined,
  ],
  ['half a fixed-length field', [0x08, 0x01, 0x11, 0, 0, 0], undefined],
  ['a group', [0x0b, 0x08, 0x01, 0x0c], undefined],
  ['an unknown wire type', [0x08, 0x01, 0x0f], undefined],
  ['a tag of more than 32 bits', [0x08, 0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x01], undefined],
  ['field 0', [0x08, 0x01, 0x00, 0x01], undefined],
] as const) {
  test(`a gRPC health message with ${what} is parsed as ${status ?? 'no status'}`, () => {
    assert.equal(statusIn(frame(message)), status);
  });
}

test('K-033 a gRPC health response that is incomplete, compressed or followed by another message contains no valid status', () => {
  const serving = frame([0x08, 0x01]);
  assert.equal(statusIn(serving), 'SERVING');
  for (let length = 0; length < serving.length; length++) {
    assert.equal(statusIn(serving.subarray(0, length)), undefined, String(length));
  }
  assert.equal(statusIn(Buffer.concat([serving, serving])), undefined);
  assert.equal(statusIn(Buffer.concat([serving, Buffer.from([0])])), undefined);
  assert.equal(statusIn(Buffer.from([1, ...serving.subarray(1)])), undefined);
  assert.equal(statusIn(Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 0x08, 0x01])), undefined);
});

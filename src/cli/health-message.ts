// Encodes and decodes the two messages of a gRPC health check. The request contains one string, the response one enum
// value.

const frameHead = 5;
const varintType = 0;
const fixed64Type = 1;
const bytesType = 2;
const fixed32Type = 5;

const names: readonly string[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/**
 * requestOf returns the bytes of one gRPC frame with a HealthCheckRequest. The message in the frame is empty if the
 * service name is empty.
 */
export function requestOf(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
  const head = Buffer.alloc(frameHead);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/**
 * statusIn returns the serving status from the response to a gRPC health check. It returns undefined unless the
 * response is exactly one frame with a valid HealthCheckResponse.
 */
export function statusIn(answer: Buffer): string | undefined {
  const isOneFrame = answer.length >= frameHead && answer.readUInt32BE(1) === answer.length - frameHead;
  // The first byte of a gRPC frame is 1 if the message is compressed. The health check accepts no compression, so such
  // a response is invalid.
  if (!isOneFrame || answer[0] !== 0) return undefined;
  const status = statusField(answer.subarray(frameHead));
  return status === undefined ? undefined : (names[status] ?? `ServingStatus ${String(status)}`);
}

// Reads field 1, the status, of a message. In Protocol Buffers, a missing field is 0, the last of several fields with
// the same number is used, and unknown fields are ignored.
function statusField(message: Buffer): number | undefined {
  let status = 0;
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    if (tag === undefined || tag.value < 8 || tag.value >= 2 ** 32) return undefined;
    const type = tag.value % 8;
    const isStatus = tag.value === 8 + varintType;
    const field = type === varintType || type === bytesType ? readVarint(message, tag.next) : undefined;
    if (type === fixed64Type || type === fixed32Type) at = tag.next + (type === fixed64Type ? 8 : 4);
    else if (field === undefined) return undefined;
    else at = field.next + (type === bytesType ? field.value : 0);
    if (isStatus && field !== undefined) status = field.value;
  }
  return at === message.length ? status : undefined;
}

// Reads a varint, which has at most ten bytes. A JavaScript number cannot represent the largest varints exactly, but
// no enum value is that large.
function readVarint(message: Buffer, from: number): { value: number; next: number } | undefined {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = message[from + index];
    if (byte === undefined) return undefined;
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return { value, next: from + index + 1 };
  }
  return undefined;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

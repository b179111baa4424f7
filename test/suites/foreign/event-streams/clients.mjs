// Clients that each read one event stream. A client resolves with the text of the response, or rejects. It calls
// `onBegin` when the first part of the response has arrived.
import { once } from 'node:events';
import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Anthropic from '@anthropic-ai/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { DefaultChatTransport } from 'ai';
import { createClient } from 'graphql-sse';
import OpenAI from 'openai';

const query = 'subscription { word }';
const accept = 'text/event-stream';

/**
 * wordsIn returns the words in the GraphQL events, and the text `retry` for each SSE field `retry`, which tells a
 * client to reconnect.
 */
function wordsIn(text) {
  return [...text.matchAll(/"word":"(.*?)"|^(retry): /gm)].map(([, word, retry]) => word ?? retry).join('');
}

/**
 * `subscribe()` reads the subscription with the client of graphql-sse. Retries are off, because the client would
 * otherwise reconnect.
 */
async function subscribe(origin, onBegin, options) {
  const client = createClient({ url: `${origin}/graphql-sse`, retryAttempts: 0, ...options });
  let text = '';
  for await (const { data } of client.iterate({ query })) {
    text += data.word;
    onBegin();
  }
  return text;
}

/** `get()` reads the subscription until its stream ends for the first time, as an EventSource would. */
async function get(url, onBegin) {
  const response = await fetch(`${url}?${new URLSearchParams({ query })}`, { headers: { accept } });
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    onBegin();
  }
  return wordsIn(text);
}

const messages = [{ role: 'user', content: 'write' }];

export const clients = {
  async openai(origin, onBegin) {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'none', maxRetries: 0 });
    let text = '';
    for await (const { choices } of await client.chat.completions.create({ model: 'm', stream: true, messages })) {
      text += choices[0].delta.content ?? '';
      onBegin();
    }
    return text;
  },
  async '@anthropic-ai/sdk'(origin, onBegin) {
    const client = new Anthropic({ baseURL: origin, apiKey: 'none', maxRetries: 0 });
    const stream = client.messages.stream({ model: 'm', max_tokens: 100, messages }).on('text', onBegin);
    return (await stream.finalMessage()).content[0].text;
  },
  async '@modelcontextprotocol/sdk'(origin, onBegin) {
    const client = new Client({ name: 'client', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', origin)));
    client.setNotificationHandler(LoggingMessageNotificationSchema, onBegin);
    try {
      const { content } = await client.callTool({ name: 'write', arguments: {} }, undefined, { timeout: 10_000 });
      return content[0].text;
    } finally {
      await client.close();
    }
  },
  async ai(origin, onBegin) {
    const transport = new DefaultChatTransport({ api: `${origin}/ai` });
    const stream = await transport.sendMessages({ chatId: '1', messages: [], trigger: 'submit-message' });
    let text = '';
    for await (const part of stream) {
      text += part.type === 'text-delta' ? part.delta : '';
      onBegin();
    }
    return text;
  },
  async hono(origin, onBegin) {
    let text = '';
    const response = await fetch(`${origin}/hono`, { method: 'POST' });
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      onBegin();
    }
    return [...text.matchAll(/^data: (word\d+ )$/gm)].map(([, word]) => word).join('');
  },
};

/** GraphQL clients that subscribe with a POST. */
export const subscribers = {
  'graphql-sse': (origin, onBegin) => subscribe(origin, onBegin),
  async 'graphql-yoga'(origin, onBegin) {
    const headers = { accept, 'content-type': 'application/json' };
    const sent = request(`${origin}/yoga`, { method: 'POST', headers, agent: false }).end(JSON.stringify({ query }));
    const [response] = await once(sent, 'response');
    const text = [];
    await pipeline(response, new PassThrough({ encoding: 'utf8' }), async (chunks) => {
      for await (const chunk of chunks) {
        text.push(chunk);
        onBegin();
      }
    });
    return wordsIn(text.join(''));
  },
};

/** GraphQL clients whose event stream is the response to a GET. */
export const sources = {
  'graphql-sse': (origin, onBegin) => get(`${origin}/graphql-sse`, onBegin),
  'graphql-yoga': (origin, onBegin) => get(`${origin}/yoga`, onBegin),
};

/** The client of graphql-sse in its mode with one shared event stream, which is the response to a GET. */
export const single = {
  'graphql-sse': (origin, onBegin) => subscribe(origin, onBegin, { singleConnection: true }),
};

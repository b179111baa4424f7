// A server that does not use lameduck. It streams its responses in the same way as an LLM provider, an MCP server,
// Hono, the `ai` SDK and two servers of GraphQL subscriptions.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createUIMessageStream, pipeUIMessageStreamToResponse } from 'ai';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/http';
import { createYoga } from 'graphql-yoga';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';

const parts = Number(process.env.PARTS);
const pause = 100;

/** `words()` yields the words of a response, one after another with pauses, as a language model generates them. */
async function* words() {
  for (let index = 0; index < parts; index++) {
    yield `word${index} `;
    await sleep(pause);
  }
}

const begin = (response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' });

async function openai(response) {
  begin(response);
  const chunk = (choice) => ({
    id: '1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'm',
    choices: [{ index: 0, ...choice }],
  });
  for await (const content of words()) {
    response.write(`data: ${JSON.stringify(chunk({ delta: { content }, finish_reason: null }))}\n\n`);
  }
  response.end(`data: ${JSON.stringify(chunk({ delta: {}, finish_reason: 'stop' }))}\n\ndata: [DONE]\n\n`);
}

async function anthropic(response) {
  begin(response);
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: '1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  send({ type: 'message_start', message });
  send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  for await (const text of words()) {
    send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  }
  send({ type: 'content_block_stop', index: 0 });
  send({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage });
  send({ type: 'message_stop' });
  response.end();
}

async function mcp(request, response) {
  const server = new McpServer({ name: 'tools', version: '1.0.0' });
  server.registerTool('write', { description: 'writes slowly' }, async (extra) => {
    let text = '';
    for await (const word of words()) {
      text += word;
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data: word } });
    }
    return { content: [{ type: 'text', text }] };
  });
  server.server.registerCapabilities({ logging: {} });
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

function ai(response) {
  const stream = createUIMessageStream({
    async execute({ writer }) {
      writer.write({ type: 'text-start', id: '1' });
      for await (const delta of words()) writer.write({ type: 'text-delta', id: '1', delta });
      writer.write({ type: 'text-end', id: '1' });
    },
  });
  pipeUIMessageStreamToResponse({ response, stream });
}

const hono = new Hono().post('/hono', (context) =>
  streamSSE(context, async (stream) => {
    for await (const data of words()) await stream.writeSSE({ data });
    await stream.writeSSE({ data: '[DONE]' });
  }),
);
const honoListener = getRequestListener(hono.fetch);

const type = (name, fields) => new GraphQLObjectType({ name, fields });
const schema = new GraphQLSchema({
  query: type('Query', { nothing: { type: GraphQLString } }),
  subscription: type('Subscription', {
    word: { type: GraphQLString, subscribe: words, resolve: (word) => word },
  }),
});
const graphqlSse = createHandler({ schema });
const yoga = createYoga({ schema, graphqlEndpoint: '/yoga', logging: false });

createServer((request, response) => {
  if (request.url === '/v1/chat/completions') void openai(response);
  else if (request.url === '/v1/messages') void anthropic(response);
  else if (request.url === '/mcp') void mcp(request, response);
  else if (request.url === '/ai') ai(response);
  else if (request.url.startsWith('/graphql-sse')) void graphqlSse(request, response);
  else if (request.url.startsWith('/yoga')) void yoga(request, response);
  else void honoListener(request, response);
}).listen(Number(process.env.PORT));

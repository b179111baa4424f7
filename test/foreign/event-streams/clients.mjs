// The clients: each reads one response and returns its text, or rejects. `onBegin` is called when the first part has come.
import Anthropic from '@anthropic-ai/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { DefaultChatTransport } from 'ai';
import OpenAI from 'openai';

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

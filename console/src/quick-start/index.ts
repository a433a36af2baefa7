import { quoted } from '../parts/curl.ts'
import { claudeCode, codex, opencode, qwenCode } from './agents.ts'
import { anthropicPython, anthropicTypescript } from './anthropic.ts'
import type { Client, Place } from './client.ts'
import { keyVariable } from './client.ts'
import { aiSdk, langchain } from './frameworks.ts'
import { mcp } from './mcp.ts'
import { openaiPython, openaiTypescript } from './openai.ts'

const chat = ({ origin, model }: Place) =>
  [
    `curl ${quoted(`${origin}/v1/chat/completions`)} \\`,
    `  -H "authorization: Bearer $${keyVariable}" \\`,
    `  -H "content-type: application/json" \\`,
    `  -d ${quoted(JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello.' }] }))}`,
  ].join('\n')

/** The smallest client there is. */
const curl: Client = {
  id: 'curl',
  title: 'curl',
  install: null,
  pastes: [{ path: null, language: 'sh', text: chat }],
  check: ({ origin }) => `curl -H "authorization: Bearer $${keyVariable}" ${quoted(`${origin}/v1/models`)}`,
}

export { keyVariable } from './client.ts'
export type { Client, Paste, Place } from './client.ts'

/** Every client that the quick start shows, in its order. */
export const clients: readonly Client[] = [
  curl,
  openaiPython,
  openaiTypescript,
  anthropicPython,
  anthropicTypescript,
  aiSdk,
  langchain,
  codex,
  claudeCode,
  opencode,
  qwenCode,
  mcp,
]

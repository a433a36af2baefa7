import { claudeCode, codex, opencode, qwenCode } from './agents.ts'
import { anthropicPython, anthropicTypescript } from './anthropic.ts'
import type { Client } from './client.ts'
import { curl } from './curl.ts'
import { aiSdk, langchain } from './frameworks.ts'
import { mcp } from './mcp.ts'
import { openaiPython, openaiTypescript } from './openai.ts'

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

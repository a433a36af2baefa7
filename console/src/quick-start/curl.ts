import { quoted } from '../parts/curl.ts'
import { keyVariable } from './client.ts'
import type { Client, Place } from './client.ts'

const chat = ({ origin, model }: Place) =>
  [
    `curl ${quoted(`${origin}/v1/chat/completions`)} \\`,
    `  -H "authorization: Bearer $${keyVariable}" \\`,
    `  -H "content-type: application/json" \\`,
    `  -d ${quoted(JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello.' }] }))}`,
  ].join('\n')

/** The smallest client there is. */
export const curl: Client = {
  id: 'curl',
  title: 'curl',
  install: null,
  pastes: [{ path: null, language: 'sh', text: chat }],
  check: ({ origin }) => `curl -H "authorization: Bearer $${keyVariable}" ${quoted(`${origin}/v1/models`)}`,
}

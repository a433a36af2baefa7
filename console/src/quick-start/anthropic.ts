import { keyVariable } from './client.ts'
import type { Client } from './client.ts'
import { literal, single } from './literals.ts'

/** The official Anthropic package for Python. Its address has no `/v1`. */
export const anthropicPython: Client = {
  id: 'anthropic-python',
  title: 'Anthropic (Python)',
  install: 'pip install anthropic',
  pastes: [
    {
      path: 'hello.py',
      language: 'python',
      text: ({ origin, model }) => `import os

from anthropic import Anthropic

client = Anthropic(base_url=${literal(origin)}, api_key=os.environ["${keyVariable}"])
answer = client.messages.create(
    model=${literal(model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "Say hello."}],
)
print("".join(block.text for block in answer.content if block.type == "text"))
`,
    },
  ],
  check: () => 'python hello.py',
}

/** The official Anthropic package for TypeScript. Its address has no `/v1`. */
export const anthropicTypescript: Client = {
  id: 'anthropic-typescript',
  title: 'Anthropic (TypeScript)',
  install: 'npm install @anthropic-ai/sdk',
  pastes: [
    {
      path: 'hello.mts',
      language: 'typescript',
      text: ({ origin, model }) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: ${single(origin)}, apiKey: process.env['${keyVariable}'] })
const answer = await client.messages.create({
  model: ${single(model)},
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Say hello.' }],
})
for (const block of answer.content) if (block.type === 'text') console.log(block.text)
`,
    },
  ],
  check: () => 'node hello.mts',
}

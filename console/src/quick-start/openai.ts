import { keyVariable } from './client.ts'
import type { Client } from './client.ts'
import { literal, single } from './literals.ts'

/** The official OpenAI package for Python, on the chat completions of the gateway. */
export const openaiPython: Client = {
  id: 'openai-python',
  title: 'OpenAI (Python)',
  install: 'pip install openai',
  pastes: [
    {
      path: 'hello.py',
      language: 'python',
      text: ({ origin, model }) => `import os

from openai import OpenAI

client = OpenAI(base_url=${literal(`${origin}/v1`)}, api_key=os.environ["${keyVariable}"])
answer = client.chat.completions.create(
    model=${literal(model)},
    messages=[{"role": "user", "content": "Say hello."}],
)
print(answer.choices[0].message.content)
`,
    },
  ],
  check: () => 'python hello.py',
}

/** The official OpenAI package for TypeScript, on the responses of the gateway. */
export const openaiTypescript: Client = {
  id: 'openai-typescript',
  title: 'OpenAI (TypeScript)',
  install: 'npm install openai',
  pastes: [
    {
      path: 'hello.mts',
      language: 'typescript',
      text: ({ origin, model }) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${single(`${origin}/v1`)}, apiKey: process.env['${keyVariable}'] })
const answer = await client.responses.create({ model: ${single(model)}, input: 'Say hello.' })
console.log(answer.output_text)
`,
    },
  ],
  check: () => 'node hello.mts',
}

import { keyVariable } from './client.ts'
import type { Client } from './client.ts'
import { literal, single } from './literals.ts'

/** The AI SDK of Vercel, by its provider for compatible endpoints. */
export const aiSdk: Client = {
  id: 'ai-sdk',
  title: 'AI SDK',
  install: 'npm install ai @ai-sdk/openai-compatible',
  pastes: [
    {
      path: 'hello.mts',
      language: 'typescript',
      text: ({ origin, model }) => `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const sluice = createOpenAICompatible({
  name: 'sluice',
  baseURL: ${single(`${origin}/v1`)},
  apiKey: process.env['${keyVariable}'] ?? '',
})
const { text } = await generateText({ model: sluice(${single(model)}), prompt: 'Say hello.' })
console.log(text)
`,
    },
  ],
  check: () => 'node hello.mts',
}

/** LangChain for Python, by its OpenAI package. */
export const langchain: Client = {
  id: 'langchain',
  title: 'LangChain',
  install: 'pip install langchain-openai',
  pastes: [
    {
      path: 'hello.py',
      language: 'python',
      text: ({ origin, model }) => `import os

from langchain_openai import ChatOpenAI

model = ChatOpenAI(model=${literal(model)}, base_url=${literal(`${origin}/v1`)}, api_key=os.environ["${keyVariable}"])
print(model.invoke("Say hello.").content)
`,
    },
  ],
  check: () => 'python hello.py',
}

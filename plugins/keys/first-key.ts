import type { Catalog, Greeting, ModelRecord } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'

/** Tells the operator of the first key, and how to try it. */
export function greetingOf(key: string): Greeting {
  return {
    now: { text: `An API key was created for you. It is shown only once:\n\n  ${key}\n`, json: { key } },
    served: ({ url, catalog }) => ({ text: howToTry(url, key, modelToTry(catalog)) }),
  }
}

function modelToTry(catalog: Catalog): string {
  const isServed = ({ name, provider }: ModelRecord) =>
    !isPattern(name) && catalog.provider(provider)?.off === undefined
  return catalog.models.find(isServed)?.name ?? 'a-model'
}

function howToTry(url: string, key: string, model: string): string {
  return `
Try it:

  curl ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${key}' \\
    -H 'content-type: application/json' \\
    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello, world"}]}'
`
}

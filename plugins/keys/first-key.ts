import type { Catalog, Greeting, ModelRecord } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'

/** Tells the operator of the first key, and how to try it. */
export function greetingOf(key: string): Greeting {
  return {
    now: { text: `An API key was created for you. It is shown only once:\n\n  ${key}\n`, json: { key } },
    served: ({ url, catalog }) => ({ text: howToTry(url, key, modelToTry(catalog)) }),
  }
}

/** The first model that is on and has a name of its own, which a pattern has not. */
function modelToTry(catalog: Catalog): string | undefined {
  const isOn = (provider: string) => catalog.provider(provider)?.off === undefined
  const isServed = ({ name, provider, deployments = [], enabled }: ModelRecord) =>
    enabled !== false &&
    !isPattern(name) &&
    [provider, ...deployments.map((place) => place.provider)].some((place) => place !== '' && isOn(place))
  return catalog.models.find(isServed)?.name
}

function howToTry(url: string, key: string, model: string | undefined): string {
  if (model === undefined)
    return `
No model has a name yet. List what the key may use:

  curl ${url}/v1/models -H 'authorization: Bearer ${key}'
`
  return `
Try it:

  curl ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${key}' \\
    -H 'content-type: application/json' \\
    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello, world"}]}'
`
}

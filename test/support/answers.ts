import { compileSchema } from '../../engine/config/validate.ts'
import type { Route } from '../../engine/pipeline/nodes.ts'
import { configuration } from '../rules/registry.ts'

let shipped: Promise<readonly Route[]> | undefined

/** The shipped action that answers a path: of two routes, the one with fewer parameters. */
async function actionOf(method: string, path: string): Promise<Route['action']> {
  const params = (route: Route) => route.path.split('/:').length
  shipped ??= configuration().then(({ pipelines }) =>
    pipelines.flatMap(({ routes }) => routes).sort((one, other) => params(one) - params(other)),
  )
  return (await shipped).find((route) => route.method === method && fits(route.path, path))?.action
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.replace(/\/$/, '').split('/')]
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith(':') || part === given[at])
}

/**
 * Throws unless a 2xx answer of the admin API is what its action declares.
 * @param body undefined: it has none
 */
export async function requireDeclared(method: string, path: string, status: number, body: unknown): Promise<void> {
  const action = await actionOf(method, path.split('?')[0] ?? '')
  if (action === undefined || status < 200 || status > 299) return
  const { name, answer, stream } = action
  // A stream may be empty.
  if (stream !== undefined && body === undefined) return
  if ((answer === undefined) !== (body === undefined))
    throw new Error(`${name} answers ${body === undefined ? 'no' : 'a'} body, which it does not declare`)
  if (answer === undefined) return
  const valid = compileSchema(answer)
  // Defaults of fields are filled in.
  if (valid(structuredClone(body))) return
  const wrong = (valid.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
  throw new Error(`${name} answers what it does not declare: ${wrong.join('; ')}\n${JSON.stringify(body)}`)
}

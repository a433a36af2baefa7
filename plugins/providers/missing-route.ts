import { GatewayError } from '../../engine/index.ts'
import { collect, pull } from '../../engine/kit.ts'
import type { Answer } from '../../engine/index.ts'
import type { Hold } from '../../engine/kit.ts'

/** Most bytes of an error body that are read. */
const limit = 1024 * 1024

/**
 * Returns the answer of a local server. If the server lacks the route, throws `upstream_rejected` with the first
 * version that has it. A 404 about a model has a JSON body that says so, and is returned unchanged.
 */
export async function routeOrRefusal(answer: Answer, model: string, since: string, hold: Hold): Promise<Answer> {
  if (answer.status !== 404 && answer.status !== 405) return answer
  const bytes = await collect(answer.body, limit, hold)
  if (answer.status === 404 && !deniesRoute(bytes.toString())) return { ...answer, body: pull(once(bytes)) }
  const message = `The provider of "${model}" has no route for decisions: its server must be of version ${since} or newer.`
  throw new GatewayError('upstream_rejected', { model }, { message, tags: [String(answer.status)] })
}

function deniesRoute(body: string): boolean {
  if (!body.trimStart().startsWith('{')) return true
  return /(unknown|no such|invalid) (route|path|endpoint|url)|(route|path|endpoint|page|url) (was )?not found/i.test(
    body,
  )
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

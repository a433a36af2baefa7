import { GatewayError, defineStage, noConfig } from '../../../engine/index.ts'
import { BytesBody, ClientRequest } from '../../../engine/kit.ts'
import { protocol } from '../values.ts'
import { bodyOf, missingOf, principalOf, readPending, responseOf } from './pending.ts'
import type { Pending } from './pending.ts'
import { ownerOf, readResponse } from './record.ts'

/**
 * Restores the principal and request of a background response, and how it was routed. A response that is no longer in progress, or was
 * deleted, is not made: `cancelled`. When `finally` runs it, the request is given even then, for the log.
 */
export default defineStage({
  name: 'resume-response',
  summary: 'Restore the request of a background response.',
  config: noConfig,
  needs: ['job'],
  reads: ['outcome'],
  provides: ['principal', 'request'],
  // The request was judged before it became a job.
  pays: ['apply-policy', 'guard-input'],
  gives: ['decision'],
  uses: ['guards'],
  build: (_, host, { guards }) => {
    const codec = host.codec(protocol)
    const { keyValue } = host
    const request = (pending: Pending) => {
      const { headers, sent } = pending
      const body = bodyOf(pending)
      const read = {
        raw: new BytesBody(Buffer.from(JSON.stringify(body))),
        headers,
        contentType: 'application/json',
        body,
      }
      return new ClientRequest(codec, read, { sent, exact: false, missing: missingOf(pending) })
    }
    return async ({ job, outcome }, scope) => {
      scope.note('background', true)
      const id = responseOf(job.input)
      const [pending, found] = await Promise.all([readPending(keyValue, id), readResponse(keyValue, id)])
      const active = found?.record.response['status'] === 'in_progress'
      if (!pending || (!active && !outcome)) throw new GatewayError('cancelled')
      const principal = principalOf(pending)
      guards.recallTokens(scope, ownerOf(principal), found?.record.tokens)
      return { principal, request: request(pending), decision: pending.decision }
    }
  },
})

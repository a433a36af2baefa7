import { quoted } from '../../parts/curl.ts'
import type { Detail } from './row.ts'

/** Where requests of the gateway's own pipelines are sent that have a body of JSON, by the name of the pipeline. */
const paths: Readonly<Record<string, string>> = {
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  decisions: '/v1/decisions',
  mapeval: '/v1/mapeval',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  compact: '/v1/responses/compact',
  'count-tokens': '/v1/messages/count_tokens',
  'input-tokens': '/v1/responses/input_tokens',
}

/** The request as a command of a POSIX shell; undefined where its whole body is not known. */
export function curlOf({ capture, metadata: { pipeline } }: Detail, origin: string): string | undefined {
  const path = typeof pipeline === 'string' ? paths[pipeline] : undefined
  if (path === undefined || !capture?.request || capture.truncated) return undefined
  return [
    `curl ${origin}${path}`,
    '-H "authorization: Bearer $SLUICE_API_KEY"',
    "-H 'content-type: application/json'",
    `-d ${quoted(capture.request)}`,
  ].join(' \\\n  ')
}

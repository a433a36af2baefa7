import type { AddressInfo } from 'node:net'
import type { Terminal } from './terminal.ts'

/** Says which key was made, the one time that anybody can. */
export function showFirstKey(key: string, json: boolean, terminal: Terminal): void {
  terminal.out(json ? JSON.stringify({ key }) : `An API key was made for you. It is shown this once:\n\n  ${key}\n`)
}

/** Says where it serves and, the first time, how to try it. */
export function introduce(
  { address, port }: AddressInfo,
  key: string | undefined,
  model: string | undefined,
  json: boolean,
  terminal: Terminal,
): void {
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  terminal.out(json ? JSON.stringify({ url }) : `Sluice serves on ${url}`)
  if (json || key === undefined) return
  terminal.out(`
Try it:

  curl ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${key}' \\
    -H 'content-type: application/json' \\
    -d '{"model": "${model ?? 'a-model'}", "messages": [{"role": "user", "content": "Hello, world"}]}'
`)
}

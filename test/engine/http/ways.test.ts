import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { rawClient, request } from './raw-client.ts'

const shipped = join(import.meta.dirname, '..', '..', '..', 'pipelines', 'chat-completions.yaml')
const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hello' }] })
const stream = JSON.stringify({ model: 'echo', stream: true, messages: [{ role: 'user', content: 'hello' }] })
const key = 'authorization: Bearer sk-test-0123456789abcdef0123456789abcdef'
const json = 'content-type: application/json'
const close = 'connection: close'

/** Requests, each as a function of the path, with what their answer holds. */
const requests: Readonly<Record<string, readonly [holds: RegExp, (path: string) => string]>> = {
  'an answer': [/ 200 .*hello/s, (path) => request(`POST ${path}`, [key, json, close], body)],
  'a stream': [/\[DONE\]/, (path) => request(`POST ${path}`, [key, json, close], stream)],
  'two requests on one connection': [
    / 200 .* 200 /s,
    (path) => request(`POST ${path}`, [key, json], body) + request(`POST ${path}`, [key, json, close], body),
  ],
  'a trailing slash and a query': [/ 200 /, (path) => request(`POST ${path}/?a=b`, [key, json, close], body)],
  'no key': [/ 401 /, (path) => request(`POST ${path}`, [json, close], body)],
  'no JSON': [/ 400 /, (path) => request(`POST ${path}`, [key, json, close], '{')],
  'an unknown model': [/ 404 /, (path) => request(`POST ${path}`, [key, json, close], body.replace('echo', 'none'))],
  'a compressed body': [/ 415 /, (path) => request(`POST ${path}`, [key, json, close, 'content-encoding: br'], body)],
  'a method that is not served': [/ 405 /, (path) => request(`DELETE ${path}`, [key, close])],
  HEAD: [/ 405 /, (path) => request(`HEAD ${path}`, [key, close])],
  'a preflight': [
    / 204 .*access-control-allow-origin: https:\/\/page\.test/s,
    (path) => request(`OPTIONS ${path}`, [close, 'origin: https://page.test', 'access-control-request-method: POST']),
  ],
  'a page of another site': [
    / 200 .*access-control-allow-origin: https:\/\/page\.test/s,
    (path) => request(`POST ${path}`, [key, json, close, 'origin: https://page.test'], body),
  ],
  'two keys': [/ 400 /, (path) => request(`POST ${path}`, [key, key, json], body)],
  'an unsafe request and another behind it': [
    / 400 /,
    (path) => request(`POST ${path}`, [key, key, json], body) + request(`POST ${path}`, [key, json, close], body),
  ],
  'a length beyond the limit': [/ 413 /, (path) => request(`POST ${path}`, [key, json, 'content-length: 99999999999'])],
  'an old client': [/ 200 /, (path) => request(`POST ${path}`, [key, json], body).replace('HTTP/1.1', 'HTTP/1.0')],
}

describe('the two ways to a pipeline', () => {
  let gateway: RunningGateway
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-ways-'))
    await mkdir(join(folder, 'pipelines'))
    const text = await readFile(shipped, 'utf8')
    // A route with a parameter goes through Koa and its router, an exact one does not.
    const both = text.replace(/^routes: \[/m, 'routes: [POST /k1/:any/completions, ')
    expect(both).not.to.equal(text)
    await writeFile(join(folder, 'pipelines', 'chat-completions.yaml'), both)
    gateway = await startGateway({ folder, server_config: { cors: { origins: ['https://page.test'] } } })
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true, force: true })
  })

  const answer = async (text: string) => {
    const client = await rawClient(gateway)
    client.write(text)
    return (await client.closed)
      .replaceAll(/[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g, '<id>')
      .replaceAll(/chatcmpl-[\w-]+/g, '<id>')
      .replaceAll(/"created":\d+/g, '"created":0')
      .replaceAll(/^(date|server-timing): .*$/gim, '$1:')
      .replaceAll('/k1/chat/completions', '/v1/chat/completions')
  }

  for (const [name, [holds, of]] of Object.entries(requests))
    it(`answer alike: ${name}`, async () => {
      const direct = await answer(of('/v1/chat/completions'))
      expect(direct).to.match(holds)
      expect(await answer(of('/k1/chat/completions'))).to.equal(direct)
    })
})

import { pluginsLine } from './stage.ts'
import type { Template } from './stage.ts'

/** A plugin with a record type, its page in the console and an audited action, and its test. */
export function pluginTemplate(name: string): Template & { test(file: string): string } {
  // Records and their lists are called like the plugin.
  const word = name.replaceAll('-', '_')
  const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ')
  return {
    text: `import { defineAction, definePlugin, defineRecord } from 'sluice'
import type { ConfigOf } from 'sluice'

// JSON Schema of an entry: it gives the TypeScript type, the defaults and the docs.
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'Name of the entry.' },
    text: { type: 'string', default: '', description: 'What it says.' },
    closed: { type: 'boolean', default: false, description: 'Whether it is closed.' },
  },
} as const

declare module 'sluice' {
  interface Records {
    ${word}_entry: ConfigOf<typeof schema>
  }
}

/** Entries stand in the configuration, in the list "${word}", and are made and changed at /api/${name}. */
const entry = defineRecord({
  name: '${word}_entry',
  summary: 'Entries of ${name}.',
  place: '${word}',
  route: '/api/${name}',
  schema,
  // In the console, at /pages/${word}_entry: a list with these columns, and beside each entry these facts.
  page: {
    title: '${title}',
    group: 'configure',
    icon: 'book',
    columns: ['name', 'text', 'closed'],
    facts: ['source', 'updated_at'],
  },
})

/** What answers one route by itself. Its role is checked before it runs. */
const close = defineAction({
  name: 'close-${name}-entry',
  summary: 'Close an entry of ${name}.',
  route: 'POST /api/${name}/:name/close',
  access: { role: 'admin' },
  // The row of the audit trail is in the transaction of the change.
  writes: { record: '${word}_entry' },
  async run({ params: { name }, by }, _services, _scope, { records }) {
    await records.change({ kind: 'change', type: '${word}_entry', name, patch: { closed: true } }, by)
  },
})

export default definePlugin({
  name: '${name}',
  summary: 'Entries of ${name}, which an admin closes.',
  contract: 1,
  records: [entry],
  actions: [close],
})
`,
    test: (file) => `import { openGateway } from 'sluice/testing'
import type { TestGateway } from 'sluice/testing'
import { deepEqual, equal } from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

let gateway: TestGateway
before(async () => {
  gateway = await openGateway({ plugins: [join(import.meta.dirname, '${file}')] })
})
after(() => gateway.close())

async function ask(route: string, token: string, body?: object) {
  const [method = '', path = ''] = route.split(' ')
  const headers = { authorization: \`Bearer \${token}\`, ...(body && { 'content-type': 'application/json' }) }
  const sent = body && { body: JSON.stringify(body) }
  const response = await fetch(gateway.url + path, { method, headers, ...sent })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

test('an admin closes an entry, and the audit trail says who did', async () => {
  const admin = await gateway.signIn('admin')
  equal((await ask('POST /api/${name}', admin, { name: 'first' })).status, 201)
  equal((await ask('POST /api/${name}/first/close', admin)).status, 204)
  equal((await ask('GET /api/${name}/first', admin)).body.closed, true)
  const { body } = await ask('GET /api/logs/audit?action=${word}_entry.update', admin)
  deepEqual([body.data[0].actor.name, body.data[0].target.name], ['admin', 'first'])
  const pages = (await ask('GET /api/pages', admin)).body.data
  equal(pages.find((page: { name: string }) => page.name === '${word}_entry').routes.create, 'POST /api/${name}')
})

test('a viewer may not close it', async () => {
  const { status, body } = await ask('POST /api/${name}/first/close', await gateway.signIn('viewer'))
  deepEqual([status, body.error.code], [403, 'forbidden'])
})
`,
    next: (
      entry,
    ) => `Next: run its test, with Node 26, the package "sluice" installed here, and no "type": "commonjs" in package.json,

  node --test

${entry === undefined ? '' : `name its file in the configuration,\n\n${pluginsLine(entry)}\n`}then look at it:

  sluice check
  sluice list actions close-${name}-entry
  sluice serve # and see /pages/${word}_entry in the console`,
  }
}

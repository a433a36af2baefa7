import { join } from 'node:path'
import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { startFolder } from '../../support/folder.ts'
import type { FolderGateway } from '../../support/folder.ts'

const plugin = join(import.meta.dirname, 'closures.ts')

describe('seams/pages: those that the console cannot show', function () {
  this.timeout(300_000)
  let gateway: FolderGateway
  before(async () => {
    gateway = await startFolder({ plugins: [plugin] }, {})
  })
  after(() => gateway.close())

  const row = "{ type: 'object', properties: { id: { type: 'string', description: 'd' } } }"
  const cut = "{ type: 'object', properties: { sum: { type: 'number', description: 'd' } } }"
  const whole = (items: string) =>
    `{ type: 'object', properties: { data: { type: 'array', description: 'd', items: ${items} }, next_cursor: { type: ['string', 'null'], description: 'd' } } }`
  const action = (name: string, page: string, how = '') =>
    `export default { kind: 'action', name: '${name}', summary: 's', route: 'GET /acme/${name}', access: { role: 'any' }, query: { list: true, filters: {}, sorts: ['id'], usual: 'id' }, answer: ${whole(row)}, run() {}, ${how} page: ${page} }\n`
  const record = (name: string, page: string, how = `route: '/acme/${name}',`) =>
    `export default { kind: 'record', name: '${name}', summary: 's', place: '${name}s', ${how} schema: { type: 'object', additionalProperties: false, required: ['name'], properties: { name: { type: 'string', description: 'd' } } }, page: ${page} }\n`
  const page = (how = '') => `{ title: 'T', group: 'use', icon: 'tag', columns: ['id'], ${how} }`
  const ofRecord = (how = '') => `{ title: 'T', group: 'use', icon: 'tag', columns: ['name'], ${how} }`

  it('are found at their plugin, by the name of their action', async () => {
    const files: Readonly<Record<string, string>> = {
      column: action('column', page("columns: ['id', 'ids']")),
      fact: action('fact', page("facts: ['weight']")),
      group: action('group', page("group: 'wacth'")),
      icon: action('icon', page("icon: 'rainbow'")),
      none: action('none', '{}'),
      misspelt: action('misspelt', page("colums: ['id']")),
      path: action('path', page(), "route: 'GET /acme/path/:id',"),
      query: action('query', page(), 'query: {},'),
      answer: action('answer', page(), `answer: ${row},`),
      writes: action('writes', page(), "route: 'POST /acme/writes', writes: { not: 'w' },"),
      keys: action('keys', page(), 'access: { key: true },'),
      dead: action(
        'dead',
        "{ title: 'T', group: 'use', icon: 'tag', columns: ['sum'], facts: ['sum'] }",
        `answer: ${whole(cut)},`,
      ),
    }
    for (const [name, text] of Object.entries(files)) await gateway.write(`wrong/${name}.ts`, text)
    await gateway.configure({ plugins: [plugin, './wrong'] })
    const found = (await gateway.engine.live.reload()).map(printDiagnostic)
    const at = (name: string, text: string) => `wrong/${name}.ts:1:1: action "${name}": ${text} [page]`
    const how = 'a GET without parameters in its path, with "listOf" as query and "pageOf" as answer'
    const listless = `it has a page, and is not ${how}`
    expect(found.filter((line) => line.startsWith('wrong/')).map(withoutIcons)).to.deep.equal([
      at('answer', listless),
      at('column', 'its page has a column "ids", which no row has; did you mean "id"?'),
      at('dead', 'nothing leads to the facts of its page: a row has neither "id" nor "name"'),
      at('fact', 'its page has a fact "weight", which no row has'),
      at('group', 'its page has an unknown group "wacth"; did you mean "watch"?'),
      at('icon', 'its page has an unknown icon "rainbow"; there are …'),
      at('keys', 'its page is for members, and its list for holders of API keys'),
      at('misspelt', 'its page has an unknown field "colums"; did you mean "columns"?'),
      at('none', 'its page needs a "title"'),
      at('none', 'its page needs "group": watch, use, configure'),
      at('none', 'its page needs "icon": …'),
      at('none', 'its page needs "columns", a list of fields of a row'),
      at('path', listless),
      at('query', listless),
      at('writes', listless),
    ])
  })

  it('are found at their plugin, by the name of their type of record', async () => {
    const files: Readonly<Record<string, string>> = {
      column: record('column', ofRecord("columns: ['name', 'creatd_at']")),
      fact: record('fact', ofRecord("facts: ['version', 'weight']")),
      pathless: record('pathless', ofRecord(), ''),
      unlisted: record('unlisted', ofRecord(), "route: '/acme/unlisted', without: ['list'],"),
      closure: action('closure', page()),
      sound: record('sound', ofRecord("facts: ['created_at', 'problem']")),
    }
    for (const [name, text] of Object.entries(files)) await gateway.write(`records/${name}.ts`, text)
    await gateway.configure({ plugins: [plugin, './records'] })
    const found = (await gateway.engine.live.reload()).map(printDiagnostic)
    const at = (name: string, text: string) => `records/${name}.ts:1:1: record "${name}": ${text} [page]`
    expect(found.filter((line) => line.startsWith('records/'))).to.deep.equal([
      'records/closure.ts:1:1: action "closure": the page "closure" is that of the record "closure" already [duplicate]',
      at('column', 'its page has a column "creatd_at", which no row has; did you mean "created_at"?'),
      at('fact', 'its page has a fact "weight", which no row has'),
      at('pathless', 'its page needs a "route"'),
      at(
        'unlisted',
        'its page needs an action that lists /acme/unlisted: a GET without parameters in its path, with "listOf" as query and "pageOf" as answer',
      ),
    ])
  })
})

/** The icons are many, and told in the reference. */
const withoutIcons = (line: string): string => line.replace(/account, audit, .*( \[page\])$/, '…$1')

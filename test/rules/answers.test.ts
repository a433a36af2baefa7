import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { root } from './sources.ts'

const folder = join(root, 'console/src')

/**
 * What the console still types by hand, because its action leaves it open: records that may be left out of the
 * configuration, settings of a section, the block of a decision, lists of several kinds. Nothing is to be added.
 */
const open: Readonly<Record<string, readonly string[]>> = {
  'screens/logs/api.ts': ['Named'],
  'screens/mcp-servers/api.ts': ['McpServer', 'Program', 'Security', 'SecurityValues'],
  'screens/models/api.ts': ['CatalogModel', 'Deployment', 'Model'],
  'screens/overview/api.ts': ['Timeline'],
  'screens/playground/api.ts': ['LoggedRequest'],
  'screens/routing/api.ts': ['LoggedRequest', 'PreviewQuestion', 'Section'],
  'screens/settings/api.ts': ['ListedSection', 'Section'],
}

describe('the questions of the console', () => {
  it('have the types of answers from the document of the API', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(^|[/-])api\.ts$/.test(name),
    )
    expect(files.length).to.be.greaterThan(10)
    const typed = files.sort().flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const found = [...text.matchAll(/^(?:export )?(?:interface (\w+)|type (\w+) = \{)/gm)].map(
        ([, one, other]) => one ?? other,
      )
      return found.length === 0 ? [] : [[name, found]]
    })
    expect(Object.fromEntries(typed)).to.deep.equal(open)
  })
})

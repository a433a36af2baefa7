import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { root } from './sources.ts'

const folder = join(root, 'console/src')

describe('the console', () => {
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

  it('has questions alone in its `api.ts` files: what is answered has the types of the document of the API', () => {
    const files = sources.filter(({ name }) => /(^|[/-])api\.ts$/.test(name))
    expect(files.length).to.be.greaterThan(10)
    const typed = files.flatMap(({ name, text }) =>
      [...text.matchAll(/^(?:export )?(?:interface (\w+)|type (\w+) = \{)/gm)].map(
        ([, one, other]) => `${name}: ${one ?? other}`,
      ),
    )
    expect(typed).to.deep.equal([])
  })

  it('types no answer where it asks', () => {
    const asking = sources.filter(({ text }) => /\bask<\w+/.test(text))
    expect(asking.length).to.be.greaterThan(20)
    expect(sources.filter(({ text }) => /\bask<[^>(]*\{/.test(text)).map(({ name }) => name)).to.deep.equal([])
  })
})

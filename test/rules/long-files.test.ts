import { expect } from 'chai'
import { sourcesOf } from './sources.ts'

const most = 450
/** Written by `npm run docs`. */
const generated = 'console/src/api/answers.ts'

describe('source files', () => {
  for (const folder of ['engine', 'plugins', 'console/src'])
    it(`of ${folder} have at most ${most} lines`, async () => {
      const lines = (text: string) => text.trimEnd().split('\n').length
      const long = (await sourcesOf(folder, ['.ts', '.tsx']))
        .filter(({ path }) => path !== generated)
        .map(({ path, text }) => ({ path, lines: lines(text) }))
        .filter((file) => file.lines > most)
      expect(long).to.deep.equal([])
    })
})

import { expect } from 'chai'
import { toldCodes } from '../../engine/cli/codes.ts'
import { errors } from '../../engine/spec/error-table.ts'
import { registry } from './registry.ts'
import { sourcesOf } from './sources.ts'

/** Files that hold codes without throwing them. */
const tables = /^engine\/(?:spec\/error-table|cli\/codes|openapi\/action)\.ts$|\/error-codes\.ts$/

describe('error codes', () => {
  it('are thrown by somebody', async () => {
    const files = (await Promise.all(['engine', 'plugins'].map((folder) => sourcesOf(folder)))).flat()
    const text = files
      .filter(({ path }) => !tables.test(path))
      .map((file) => file.text)
      .join('\n')
    const codes = toldCodes(await registry()).map(({ code }) => code)
    expect(codes.length).to.be.greaterThan(80)
    expect(codes.filter((code) => !new RegExp(`['"]${code}['"]`).test(text))).to.deep.equal([])
  })

  it('of the engine are those that the engine throws', async () => {
    const text = (await sourcesOf('engine'))
      .filter(({ path }) => !tables.test(path))
      .map((file) => file.text)
      .join('\n')
    expect(Object.keys(errors).filter((code) => !new RegExp(`['"]${code}['"]`).test(text))).to.deep.equal([])
    expect(Object.keys(errors).length).to.be.at.most(48)
  })

  it('say what to do', async () => {
    expect(toldCodes(await registry()).filter(({ advice }) => advice === '')).to.deep.equal([])
  })
})

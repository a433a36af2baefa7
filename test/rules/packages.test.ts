import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { root } from './sources.ts'

interface Locked {
  readonly hasInstallScript?: boolean
  readonly integrity?: string
  readonly link?: boolean
}

const read = (name: string) => readFileSync(join(root, name), 'utf8')
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> }

describe('the packages', () => {
  it('run no script at installing that nobody has looked at', () => {
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
    const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))
    expect(names.filter((name) => allowScripts[name] === undefined)).to.deep.equal([])
    // A new one fails the installation, instead of a warning.
    expect(read('.npmrc').split('\n')).to.include('strict-allow-scripts=true')
  })

  it('are each locked to the bytes that were looked at', () => {
    const installed = Object.entries(packages).filter(
      ([path, { link }]) => path.includes('node_modules/') && link !== true,
    )
    expect(installed.length).to.be.greaterThan(100)
    expect(
      installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path),
    ).to.deep.equal([])
  })
})

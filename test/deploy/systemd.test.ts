import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'mocha'
import { expect } from 'chai'
import { root } from '../rules/sources.ts'
import { onPath } from '../support/services.ts'

const path = join(root, 'deploy/systemd/sluice.service')
const unit = readFileSync(path, 'utf8')
/** The values of a setting, in their order. */
const valuesOf = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)

/** Tenths of the exposure that systemd-analyze reckons: 0 is best, 100 is worst. */
const most = 25

/** Runs systemd-analyze; skips where it is missing, which is no fault of a machine. */
function analyze(context: Context, ...words: string[]) {
  const program = onPath('systemd-analyze')
  if (program === undefined) {
    console.log('      skipped: no systemd-analyze on PATH')
    return context.skip()
  }
  return spawnSync(program, words, { encoding: 'utf8' })
}

describe('deploy/systemd/sluice.service', () => {
  it('is a unit that systemd understands', function () {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-unit-'))
    try {
      // The program of the unit is not installed here.
      const copy = join(folder, 'sluice.service')
      writeFileSync(copy, unit.replace('/usr/local/bin/sluice', process.execPath))
      const { stdout, stderr, status } = analyze(this, 'verify', copy)
      // On a machine where systemd does not run, it cannot look at its other units.
      const about = (stdout + stderr).split('\n').filter((line) => line.includes('sluice'))
      expect([about, status]).to.deep.equal([[], 0])
      writeFileSync(copy, unit.replace('WatchdogSec=30', 'WatchdogSecs=30'))
      expect(analyze(this, 'verify', copy).stderr).to.include('WatchdogSecs')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it(`leaves a hole of ${most / 10} of 10 at most`, function () {
    const { stdout, status } = analyze(this, 'security', '--offline=true', `--threshold=${most}`, path)
    expect(status, stdout).to.equal(0)
    expect(stdout).to.match(/Overall exposure level for sluice\.service: [0-2]\.\d/)
  })

  it('waits for what is under way, tells systemd by itself, and lets V8 make code', () => {
    // 5 s of notice and 30 s until the deadline are the defaults.
    expect(Number(valuesOf('TimeoutStopSec')[0])).to.be.greaterThan(35)
    expect([valuesOf('Type'), valuesOf('NotifyAccess'), valuesOf('WatchdogSec')]).to.deep.equal([
      ['notify'],
      ['main'],
      ['30'],
    ])
    expect(unit).not.to.match(/^MemoryDenyWriteExecute/m)
    expect(valuesOf('RestrictAddressFamilies')).to.deep.equal(['AF_INET AF_INET6 AF_UNIX'])
  })

  it('gives the secret as a file that only the gateway can read', () => {
    expect(valuesOf('LoadCredential')).to.deep.equal(['secret:/etc/sluice/secret'])
    expect(valuesOf('Environment')).to.deep.equal(['SLUICE_SECRET_FILE=%d/secret NODE_ENV=production'])
    expect(valuesOf('UMask')).to.deep.equal(['0077'])
  })
})

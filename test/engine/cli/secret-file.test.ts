import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startCommand, startServe } from './process.ts'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const secret = 'the master secret of this gateway'

describe('the file of the master secret that SLUICE_SECRET_FILE names', () => {
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox()
  })
  afterEach(() => here.remove())

  const rotate = async (environment: Record<string, string>) => {
    const command = startCommand(here.folder, environment, 'secret', 'rotate')
    return { code: await command.ended, out: command.out.join('\n'), error: command.error }
  }

  it('is read without one newline at its end, and says where the next secret belongs', async () => {
    await here.write('given', `${secret}\n`)
    // What is sealed knows its secret: only the same text can be rotated, and later only the next one.
    expect((await rotate({ SLUICE_SECRET: 'first secret of this gateway', SLUICE_NEW_SECRET: secret })).code).to.equal(
      0,
    )
    const file = { SLUICE_SECRET_FILE: 'given' }
    expect(await rotate(file)).to.deep.equal({
      code: 2,
      out: '',
      error: [
        'sluice: the master secret stands in the file that SLUICE_SECRET_FILE names: set SLUICE_NEW_SECRET to the new one, which you keep in the same place',
      ],
    })
    const { code, out } = await rotate({ ...file, SLUICE_NEW_SECRET: `${secret} again` })
    expect(code).to.equal(0)
    expect(out).to.include(
      'Now write into the file that SLUICE_SECRET_FILE names the value of SLUICE_NEW_SECRET, and restart every gateway.',
    )
    await here.write('given', `${secret} again\r\n`)
    expect((await rotate({ ...file, SLUICE_NEW_SECRET: `${secret} at last` })).error).to.deep.equal([])
    await here.write('given', `${secret} at last\n\n`)
    expect((await rotate({ ...file, SLUICE_NEW_SECRET: `${secret} never` })).error).to.deep.equal([
      'sluice: this is not the present master secret of the gateway',
    ])
  })

  it('reaches every serving process, of which none has it in its environment or in its log', async () => {
    await here.write('given', secret)
    await here.write('config/sluice.yaml', 'listen: { port: 0, workers: 2 }\nshutdown: { notice: 0s }\n')
    const serving = startServe(here.folder, { SLUICE_SECRET_FILE: join(here.folder, 'given') }, '--json')
    try {
      const live = () => serving.error.filter((line) => line.includes('the configuration is live'))
      await serving.until(() => live().length === 2)
      const pids = live().map((line) => (JSON.parse(line) as { pid: number }).pid)
      for (const pid of [serving.pid, ...pids]) {
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
        expect(environment).to.include('SLUICE_SECRET_FILE=').and.not.to.include(secret)
      }
      serving.interrupt('SIGTERM')
      expect(await serving.ended).to.equal(0)
      expect([...serving.out, ...serving.error].join('\n')).not.to.include(secret)
      // The secret was given: none was made beside the database.
      expect(await readFile(join(here.folder, 'data/secret')).catch(({ code }: { code: string }) => code)).to.equal(
        'ENOENT',
      )
    } finally {
      await serving.remove()
    }
  })

  it('is hidden like any other master secret', async () => {
    await here.write('given', 'short')
    const serving = startServe(here.folder, { SLUICE_SECRET_FILE: 'given', PORT: '0' })
    expect(await serving.ended).to.equal(1)
    expect(serving.error.filter((line) => !line.startsWith('{'))).to.deep.equal([
      'sluice cannot start: the master secret in the file that SLUICE_SECRET_FILE names has fewer than 16 characters',
    ])
  })

  for (const [what, environment, sentence] of [
    [
      'the secret is given twice',
      { SLUICE_SECRET_FILE: 'given', SLUICE_SECRET: secret },
      'SLUICE_SECRET and SLUICE_SECRET_FILE are both set; unset one of them',
    ],
    ['it is not there', { SLUICE_SECRET_FILE: 'none' }, 'SLUICE_SECRET_FILE cannot be read: ENOENT'],
    ['it is a folder', { SLUICE_SECRET_FILE: 'config' }, 'SLUICE_SECRET_FILE cannot be read: EISDIR'],
    ['it is empty', { SLUICE_SECRET_FILE: 'empty' }, 'SLUICE_SECRET_FILE must name a file with 1 to 4096 characters'],
    [
      'it is no secret',
      { SLUICE_SECRET_FILE: 'long' },
      'SLUICE_SECRET_FILE must name a file with 1 to 4096 characters',
    ],
  ] as const)
    it(`refuses every command in one line when ${what}`, async () => {
      await here.write('given', secret)
      await here.write('empty', '\n')
      await here.write('long', 'x'.repeat(4097))
      const command = startCommand(here.folder, environment, 'check')
      expect(await command.ended).to.equal(1)
      expect([command.out, command.error]).to.deep.equal([[], [`sluice: ${sentence}`]])
    })

  it('does not matter where it is named empty', async () => {
    const command = startCommand(here.folder, { SLUICE_SECRET_FILE: '', SLUICE_SECRET: secret }, 'check')
    expect(await command.ended).to.equal(0)
  })
})

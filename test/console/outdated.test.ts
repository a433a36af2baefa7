import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

describe('console: what somebody else changed meanwhile', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, { providers: [{ name: 'echo', type: 'echo' }] })
  })
  afterEach(() => expect(rig.complaints().filter((one) => !/status of (409|412)/.test(one))).to.deep.equal([]))
  after(() => rig?.close())

  const done = async (route: string, body?: JsonObject) => {
    const answer = await rig.gateway.asAdmin(route, body)
    expect(answer.status, JSON.stringify(answer.body)).to.be.lessThan(300)
    return answer.body
  }
  const provider = (name: string) => done('POST /api/config/providers', { name, type: 'echo', config: {} })

  it('is said where it was switched, by whom, and then it can be switched', async () => {
    await provider('contested-and-with-a-name-that-is-long-enough-to-need-two-lines')
    const at = '/providers/contested-and-with-a-name-that-is-long-enough-to-need-two-lines'
    const page = await rig.signedIn('admin', at, { width: 390 })
    const turn = page.getByRole('button', { name: 'Disable' })
    await turn.waitFor()
    await done(`PATCH /api/config${at}`, { config: { delay: '1s' } })
    await turn.click()
    const alert = page.getByRole('main').getByRole('alert').filter({ hasText: 'stale_version' })
    await alert.getByText(/^Changed by admin .* ago\.$/).waitFor()
    expect(await page.getByRole('textbox', { name: 'Delay' }).inputValue()).to.equal('1s')
    expect(await axe(page)).to.deep.equal([])
    await turn.click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    expect(await alert.count()).to.equal(0)
    await done(`PATCH /api/config${at}`, { config: { delay: '2s' } })
    await page.getByRole('button', { name: 'Undo' }).click()
    const refused = page.getByRole('alert').getByText(/has changed: it is version 4 now/)
    await refused.waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await refused.waitFor({ state: 'detached' })
  })

  it('is said of the record that it was, also where the answer has no id', async () => {
    await provider('first')
    await provider('second')
    const page = await rig.signedIn('admin', '/providers/first')
    const error = { message: 'It has changed.', type: 'x', param: null, code: 'stale_version' }
    await page.route('**/api/config/providers/*', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 412, json: { error } }) : route.fallback(),
    )
    const by = (name: string) => page.getByRole('main').getByText(new RegExp(`^Changed by ${name} `))
    const row = (name: string) => ({ data: [{ at: new Date().toISOString(), actor: { name } }] })
    const turn = page.getByRole('button', { name: 'Disable' })
    const refused = async (changer: string) => {
      let answer = () => {}
      const held = new Promise<void>((resolve) => (answer = resolve))
      await page.route('**/api/logs/audit?*', async (route) => {
        await held
        await route.fulfill({ json: row(changer) })
      })
      const asked = page.waitForRequest('**/api/logs/audit?*')
      await turn.click()
      await asked
      expect(await page.getByRole('main').getByText('It has changed.').count()).to.equal(1)
      answer()
      await by(changer).waitFor()
    }
    await refused('ada')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Providers' }).click()
    await page.getByRole('link', { name: 'second', exact: true }).click()
    await refused('bob')
    await refused('eve')
  })

  it('does not stop a second attempt to delete', async () => {
    await provider('deleted')
    const page = await rig.signedIn('admin', '/providers/deleted')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await done('PATCH /api/config/providers/deleted', { config: { delay: '1s' } })
    const dialog = page.getByRole('dialog', { name: 'Delete deleted' })
    await dialog.getByRole('textbox', { name: 'Type deleted to confirm' }).fill('deleted')
    await dialog.getByRole('button', { name: 'Delete deleted' }).click()
    await dialog.getByText(/^Changed by admin /).waitFor()
    await dialog.getByRole('button', { name: 'Delete deleted' }).click()
    await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor()
  })

  it('leads to what uses a record by now, with sentences that are read to their end', async () => {
    await provider('used')
    const page = await rig.signedIn('admin', '/providers/used')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await done('POST /api/config/models', { name: 'user-of-it', provider: 'used' })
    const dialog = page.getByRole('dialog', { name: 'Delete used' })
    await dialog.getByRole('textbox', { name: 'Type used to confirm' }).fill('used')
    await dialog.getByRole('button', { name: 'Delete used' }).click()
    await dialog.getByRole('alert').getByText('in_use').waitFor()
    await dialog.getByText('1 model uses it and goes, too.').waitFor()
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
    await dialog.getByRole('link', { name: 'user-of-it' }).click()
    await page.getByRole('heading', { level: 1, name: 'user-of-it' }).waitFor()
  })

  it('is no fault of two clicks', async () => {
    await done('POST /api/config/models', { name: 'twice', provider: 'echo' })
    const { id } = (await done('POST /api/api-keys', { name: 'twice' })) as { readonly id: string }
    for (const path of ['/models/twice', `/keys/${id}`]) {
      const page = await rig.signedIn('admin', path)
      let answer = () => {}
      const clicked = new Promise<void>((resolve) => (answer = resolve))
      await page.route('**/api/**', async (route) => {
        if (route.request().method() === 'PATCH') await clicked
        await route.fallback()
      })
      await page.getByRole('button', { name: 'Disable' }).dblclick()
      answer()
      await page.getByRole('status').getByText('Disabled twice.').waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('button', { name: 'Disable' }).waitFor()
      expect(rig.complaints()).to.deep.equal([])
    }
  })
})

import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { isSigned, receiver, secret } from '../notifications/receiver.ts'
import type { Receiver } from '../notifications/receiver.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

describe('console/settings', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, { server_config: { web_search: { mode: 'off' } } })
  })
  // A browser tells of every refusal, too, and refusals are part of these tests.
  afterEach(() => expect(rig.complaints().filter((one) => !/status of (404|412|422|500)/.test(one))).to.deep.equal([]))
  after(() => rig?.close())

  const section = async (name: string) =>
    (await rig.gateway.asAdmin(`GET /api/config/server/${name}`)).body as JsonObject & { values: JsonObject }

  it('are read and changed section by section, each value with its origin', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/', { theme })
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
      await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Resilience' }).click()
      const tries = page.getByRole('textbox', { name: 'Tries' })
      await tries.waitFor()
      expect(await axe(page)).to.deep.equal([])
      const next = theme === 'light' ? '5' : '4'
      await tries.fill(next)
      await page.getByRole('button', { name: 'Save' }).click()
      const review = page.getByRole('dialog', { name: '1 change' })
      await review.getByText(next, { exact: true }).waitFor()
      expect(await axe(page)).to.deep.equal([])
      await review.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved. It is in force.').waitFor()
      const { values, source } = await section('resilience')
      expect(values).to.have.nested.property('retries.tries', Number(next))
      expect(source).to.equal('database')
    }
    const page = await rig.signedIn('admin', '/settings/resilience')
    await page.getByRole('button', { name: 'Reset to defaults' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset to defaults' }).click()
    await page.getByText('Resilience is at its defaults.').waitFor()
    expect((await section('resilience'))['source']).to.equal('default')
  })

  it('at their defaults are not overwritten either where somebody else has changed them', async () => {
    const page = await rig.signedIn('admin', '/settings/resilience')
    await page.getByRole('textbox', { name: 'Tries' }).fill('6')
    await rig.gateway.asAdmin('PATCH /api/config/server/resilience', { retries: { tries: 2 } })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: '1 change' }).getByRole('button', { name: 'Save' }).click()
    const conflict = page.getByRole('dialog', { name: /^Changed by admin .* ago$/ })
    await conflict.getByRole('row', { name: /Tries 2 6$/ }).waitFor()
    await conflict.getByRole('button', { name: 'Take theirs' }).click()
    await conflict.waitFor({ state: 'detached' })
    expect((await section('resilience')).values).to.have.nested.property('retries.tries', 2)
    await rig.gateway.asAdmin('DELETE /api/config/server/resilience')
  })

  it('say at their field what is wrong', async () => {
    const page = await rig.signedIn('admin', '/settings/resilience')
    const tries = page.getByRole('textbox', { name: 'Tries' })
    await tries.fill('many')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('This is not a number.').waitFor()
    await tries.fill('1000000')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/^At most /)
      .waitFor()
    expect(await tries.getAttribute('aria-invalid')).to.equal('true')
    await page.getByRole('textbox', { name: 'Cooldown' }).fill('soon')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('2 fields need another look.').waitFor()
    await page.getByRole('button', { name: /^Cooldown: It must be a number and its unit/ }).click()
    expect(await axe(page)).to.deep.equal([])
    expect((await section('resilience'))['source']).to.equal('default')
  })

  it('of the file are read-only, and all are found by their words', async () => {
    const page = await rig.signedIn('admin', '/settings/web_search')
    await page.getByText(/^Declared in sluice\.yaml:\d+\. Change it there/).waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
    await page.getByRole('searchbox', { name: 'Find a setting' }).fill('cooldown')
    await page.getByRole('link', { name: /Cooldown Resilience$/ }).click()
    const cooldown = page.getByRole('textbox', { name: 'Cooldown' })
    await cooldown.waitFor()
    await cooldown.and(page.locator(':focus')).waitFor()
    const { pathname, searchParams } = new URL(page.url())
    expect([pathname, searchParams.get('search')]).to.deep.equal(['/settings/resilience', 'cooldown'])
    await page.reload()
    await page.getByRole('link', { name: /Cooldown Resilience$/ }).waitFor()
    expect(await axe(page)).to.deep.equal([])
  })

  it('that something else decides are only read, and say by what', async () => {
    const page = await rig.signedIn('admin', '/settings/mcp_security')
    await page.getByTitle('mcp.allow_stdio').getByText('in file').waitFor()
    await page.getByText('Programs of stdio servers', { exact: true }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Programs of stdio servers' }).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. It is in force.').waitFor()
  })

  it('have a form for every section', async () => {
    const page = await rig.signedIn('admin', '/settings')
    const links = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
    await links.first().waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/config/server')
    expect(await links.count()).to.equal((body['data'] as readonly unknown[]).length)
    for (const link of await links.all()) {
      await link.click()
      const region = page
        .getByRole('main')
        .getByRole('button', { name: 'Save' })
        .or(page.getByText(/^Declared in/))
      await region.first().waitFor()
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('are not shown to viewers, and say what failed', async () => {
    const viewer = await rig.signedIn('viewer', '/settings')
    await viewer.getByText('Only admins see settings.').waitFor()
    const page = await rig.signedIn('admin', '/')
    await page.route('**/api/config/server', (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }),
    )
    await page.goto('/settings')
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute('**/api/config/server')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  })
})

describe('console/settings of notifications that are stored', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, {})
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  it('keep the address of a target, which is not shown, when another field of it changes', async () => {
    const url = 'https://8.8.8.8/services/T0/XxCanary0123456789'
    const to = [{ name: 'chat', form: 'slack', url, causes: ['circuit'] }]
    const patched = await rig.gateway.asAdmin('PATCH /api/config/server/notifications', { to, hold: '1h' })
    expect(patched.status).to.equal(200)
    const page = await rig.signedIn('admin', '/settings/notifications')
    await page.getByText('https://8.8.8.8', { exact: true }).waitFor()
    const row = page.getByRole('group', { name: 'Targets' })
    await row.getByText('Set', { exact: true }).first().waitFor()
    expect(await axe(page)).to.deep.equal([])
    await row.getByRole('checkbox', { name: 'budget' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: '1 change' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. It is in force.').waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/config/server/notifications')
    const [kept] = (body['values'] as { readonly to: readonly JsonObject[] }).to
    expect(kept?.['causes']).to.have.members(['circuit', 'budget'])
    expect(body['secrets']).to.deep.equal({ 'to[0].url': { set: true, hint: null } })
  })
})

describe('console/settings of notifications', () => {
  let rig: SignedInRig
  let ops: Receiver
  before(async function () {
    ops = await receiver()
    const to = [{ name: 'ops', url: ops.url, secret }]
    rig = await startConsole(this, { server_config: { notifications: { to, hold: '1h' } } })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await ops.close()
  })

  it('send a test to a target, and say how it went', async () => {
    const page = await rig.signedIn('admin', '/settings/notifications')
    const targets = page.getByRole('list', { name: 'Targets of notifications' })
    await targets.getByText('Nothing was sent yet.').waitFor()
    expect(await axe(page)).to.deep.equal([])
    await targets.getByRole('button', { name: 'Send a test to ops' }).click()
    await page.getByText('ops has taken the test.').waitFor()
    await targets.getByText('Reached').waitFor()
    expect(ops.of('test')).to.have.length(1)
    expect(ops.received[0] && isSigned(ops.received[0])).to.equal(true)
    ops.answer(500)
    await targets.getByRole('button', { name: 'Send a test to ops' }).click()
    await page.getByText('ops has not taken the test: it answered with status 500.').waitFor()
    await targets.getByText('Not reached: it answered with status 500').waitFor()
  })

  it('tell of what the strip shows, which leads to it', async () => {
    const at = new Date(Date.now() + 86_400_000).toISOString()
    const made = await rig.gateway.asAdmin('POST /api/api-keys', { name: 'short', expires_at: at })
    expect(made.status).to.equal(201)
    const page = await rig.signedIn('admin', '/settings/notifications')
    const strip = page.getByRole('region', { name: 'Attention' })
    await strip.getByText('Ends soon').waitFor()
    await strip.getByText(/^The API key "short" ends at /).waitFor()
    expect(await axe(page)).to.deep.equal([])
    await strip.getByRole('link', { name: 'Show' }).click()
    await page.waitForURL(`**/keys/${made.body['id'] as string}`)
    const viewers = await rig.signedIn('viewer', '/')
    await viewers.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(await viewers.getByText('Ends soon').count()).to.equal(0)
  })
})

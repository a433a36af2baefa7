import { expect } from 'chai'
import { password } from '../support/admin.ts'
import { axe, startConsole, startNewConsole } from './support/browser.ts'
import type { NewRig, SignedInRig } from './support/browser.ts'

type Page = Awaited<ReturnType<SignedInRig['open']>>

const shows = (page: Page, heading: string) => page.getByRole('heading', { level: 1, name: heading }).waitFor()

async function fillIn(page: Page, username: string, secret: string) {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** What the browser itself tells of a refused request is no fault of the page. */
const own = (complaints: readonly string[]) => complaints.filter((line) => !/status of 4\d\d/.test(line))

describe('console/sign-in', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
  })
  afterEach(() => expect(own(rig.complaints())).to.deep.equal([]))
  after(() => rig?.close())

  it('breaks no rule of access in either theme', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.open('/sign-in', { theme })
      await shows(page, 'Sign in')
      expect(await page.title()).to.equal('Sign in · Sluice')
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('says what is wrong, and lands where the link pointed', async () => {
    const page = await rig.open('/no/such?range=7d&tag=a:b&tag=c:d')
    await shows(page, 'Sign in')
    await fillIn(page, 'admin', 'not the password')
    await page.getByRole('alert').getByText('The username or the password is wrong.').waitFor()
    await fillIn(page, 'admin', password)
    await shows(page, 'There is no page here')
    const { pathname, search } = new URL(page.url())
    expect(pathname + decodeURIComponent(search)).to.equal('/no/such?range=7d&tag=a:b&tag=c:d')
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.to.include('token')
  })

  it('is busy until the page is there to which it leads', async () => {
    const page = await rig.open('/sign-in')
    await shows(page, 'Sign in')
    let answer = () => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/*.js', async (route) => {
      await held
      await route.fallback()
    })
    const asked = page.waitForRequest('**/*.js')
    await fillIn(page, 'admin', password)
    await asked
    expect(await page.getByRole('button', { name: 'Sign in' }).getAttribute('aria-busy')).to.equal('true')
    answer()
    await shows(page, 'Overview')
  })

  it('leads to no other site', async () => {
    for (const to of ['//example.com/', 'https://example.com/', '/\\example.com']) {
      const page = await rig.open(`/sign-in?to=${encodeURIComponent(to)}`)
      await fillIn(page, 'admin', password)
      await page.getByRole('banner').waitFor()
      expect(new URL(page.url()).origin, to).to.equal(rig.gateway.url)
    }
  })

  it('says when it was tried too often', async () => {
    await rig.gateway.addMember({ username: 'hasty' })
    const page = await rig.open('/sign-in')
    for (let tries = 0; tries < 6; tries++) {
      const answered = page.waitForResponse('**/api/auth/login')
      await fillIn(page, 'hasty', 'not the password')
      await (await answered).finished()
    }
    await page
      .getByRole('alert')
      .getByText(/too many/i)
      .waitFor()
  })

  it('is shared with a new tab, and sign-out reaches every tab', async () => {
    const page = await rig.open()
    await fillIn(page, 'admin', password)
    await shows(page, 'Overview')
    const other = await page.context().newPage()
    await other.goto('/')
    await shows(other, 'Overview')
    await page.getByRole('button', { name: 'Account admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await shows(page, 'Sign in')
    await shows(other, 'Sign in')
  })

  it('asks for a new password where somebody else chose it', async () => {
    await rig.gateway.addMember({ username: 'newcomer', must_change_password: 1 })
    const page = await rig.open('/?range=7d')
    await fillIn(page, 'newcomer', password)
    await shows(page, 'New password')
    expect(await axe(page)).to.deep.equal([])
    await page.getByLabel('Current password').fill(password)
    await page.getByLabel('New password', { exact: true }).fill('short')
    await page.getByLabel('Repeat password').fill('short')
    await page.getByRole('button', { name: 'Save password' }).click()
    await page.locator('[aria-invalid=true]').waitFor()
    await page.getByLabel('New password', { exact: true }).fill(`${password} again`)
    await page.getByLabel('Repeat password').fill(`${password} again`)
    await page.getByRole('button', { name: 'Save password' }).click()
    await page.getByRole('button', { name: 'Time range: Last 7 days' }).waitFor()
  })
})

describe('console/set-up', () => {
  let rig: NewRig
  before(async function () {
    rig = await startNewConsole(this)
  })
  afterEach(() => expect(own(rig.complaints())).to.deep.equal([]))
  after(() => rig?.close())

  it('is what everybody sees first, and asks for the link', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.open('/', { theme })
      await shows(page, 'Set up Sluice')
      await page.getByText('Open the link that the gateway printed').waitFor()
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('refuses a wrong token', async () => {
    const page = await rig.open('/setup#token=nonsense')
    await page.getByLabel('Username').fill('first')
    for (const label of ['Password', 'Repeat password']) await page.getByLabel(label, { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('alert').getByText(/token/i).waitFor()
  })

  it('takes the token of a link that is pasted into a tab that is open', async () => {
    const page = await rig.open('/')
    await page.getByText('Open the link that the gateway printed').waitFor()
    expect(new URL(page.url()).pathname).to.equal('/setup')
    await page.evaluate(`location.hash = '#token=${rig.setupToken}'`)
    await page.getByLabel('Username').waitFor()
    expect(new URL(page.url()).hash).to.equal('')
    await page.goBack()
    expect(page.url()).not.to.include(rig.setupToken)
  })

  it('makes the first account, without the token in the address', async () => {
    const page = await rig.open(`/setup#token=${rig.setupToken}`)
    await shows(page, 'Set up Sluice')
    expect(new URL(page.url()).hash).to.equal('')
    expect(await axe(page)).to.deep.equal([])
    const fill = async (one: string, two: string) => {
      await page.getByLabel('Password', { exact: true }).fill(one)
      await page.getByLabel('Repeat password').fill(two)
      await page.getByRole('button', { name: 'Create account' }).click()
    }
    await page.getByLabel('Username').fill('first')
    await fill(password, `${password}!`)
    await page.getByText('The two passwords are not the same.').waitFor()
    await fill('short', 'short')
    await page.locator('[aria-invalid=true]').first().waitFor()
    await fill(password, password)
    await page.getByRole('link', { name: 'Skip for now' }).waitFor()
    expect(await axe(page)).to.deep.equal([])
    for (const step of ['Add a provider', 'Add models', 'Make a key']) {
      await page.getByRole('region', { name: step }).waitFor()
      await page.getByRole('link', { name: 'Skip for now' }).click()
    }
    await shows(page, 'Overview')
    await page.getByRole('button', { name: 'Account first' }).waitFor()
  })

  it('is over once there is an account', async () => {
    const page = await rig.open(`/setup#token=${rig.setupToken}`)
    await page.getByLabel('Username').fill('second')
    for (const label of ['Password', 'Repeat password']) await page.getByLabel(label, { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('alert').filter({ hasText: /./ }).waitFor()
    await page.goto('/sign-in')
    await shows(page, 'Sign in')
  })
})

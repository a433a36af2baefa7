import { expect } from 'chai'
import type { Locator } from 'playwright-core'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { pictured } from './support/pictured.ts'

/** The accent of each theme. */
const accents = { light: 'rgb(42, 87, 208)', dark: 'rgb(138, 171, 255)' }

describe('console/controls', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  const style = (of: Locator, name: 'backgroundColor' | 'borderTopColor' | 'fontSize') =>
    of.evaluate(
      (element, property) => element.ownerDocument.defaultView?.getComputedStyle(element)[property] ?? '',
      name,
    )

  for (const theme of ['light', 'dark'] as const)
    it(`that are on have the accent, and others a border that can be seen: ${theme}`, async () => {
      const page = await rig.signedIn('admin', '/providers?add=1', { theme })
      await page.getByRole('combobox', { name: 'Type' }).fill('compatible')
      await page.getByRole('option', { name: 'compatible', exact: true }).click()
      const box = page.getByRole('checkbox', { name: 'speech' })
      const { on, off } = { on: accents[theme], off: await style(page.getByLabel('Base URL'), 'borderTopColor') }
      expect(await style(box, 'borderTopColor')).to.equal(off)
      await box.check()
      expect(await style(box, 'backgroundColor')).to.equal(on)
      expect(Number.parseFloat(await style(page.getByText('speech', { exact: true }), 'fontSize'))).to.be.at.least(12)

      const control = page.getByRole('switch', { name: 'Allow private addresses' })
      const track = control.locator('xpath=following-sibling::span')
      expect(await style(track, 'backgroundColor')).to.equal(off)
      await control.check()
      expect(await style(track, 'backgroundColor')).to.equal(on)
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `controls-${theme}`)
    })
})

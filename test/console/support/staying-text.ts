import type { Locator, Page } from 'playwright-core'
import { until } from '../../support/until.ts'

/** Watches a page for what somebody else's text becomes, other than text. */
export interface Watch {
  readonly page: Page
  /** Dialogs, foreign addresses, breaches of the policy, elements and values that are there because a text was run. */
  findings(): Promise<readonly string[]>
}

/** What the functions below use of the document of a page. */
interface Part {
  readonly textContent: string
  readonly outerHTML: string
  readonly value?: unknown
  readonly children: Iterable<Part>
  querySelectorAll(selector: string): Iterable<Part>
  checkVisibility(): boolean
  getAttributeNames(): readonly string[]
}

/** What only a text that was taken for markup gives a page of the console. */
const born = [
  'script:not([src]), img[src="x"], svg animate',
  'iframe, object, embed, base, [srcdoc], [http-equiv=refresh], [autofocus][onfocus]',
  '[href^="javascript:" i], [src^="javascript:" i], [action^="javascript:" i], [formaction]',
  '[href^="data:" i], [src^="data:text" i], [href^="https://evil" i], [src^="https://evil" i]',
].join(', ')

/** Begins to watch; of what is open already, from the next navigation on. */
export async function watched(page: Page, origin: string): Promise<Watch> {
  const heard: string[] = []
  page.on('dialog', (dialog) => {
    heard.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', (popup) => heard.push(`window: ${popup.url()}`))
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (protocol.startsWith('http') && asked !== origin) heard.push(`request: ${request.url()}`)
  })
  await page.exposeFunction('tellBreach', (what: string) => heard.push(`breach: ${what}`))
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    tellBreach(violatedDirective + ' ' + blockedURI + ' ' + sample))`)
  return {
    page,
    async findings() {
      const found = await page.evaluate((selectors) => {
        const { document } = globalThis as unknown as { readonly document: Part }
        const handled = [...document.querySelectorAll('*')].filter((one) =>
          one.getAttributeNames().some((name) => name.startsWith('on')),
        )
        return [
          ...('owned' in {} ? ['Object.prototype.owned'] : 'owned' in globalThis ? ['window.owned'] : []),
          ...new Set([...handled, ...document.querySelectorAll(selectors)].map((one) => `element: ${one.outerHTML}`)),
        ]
      }, born)
      return [...heard, ...found]
    },
  }
}

/** Waits until all texts can be read in a part of a page; `tell` hears which of them are missing. */
export async function reads(
  part: Locator,
  texts: readonly string[],
  tell: (missing: readonly string[]) => void,
): Promise<void> {
  await until(async () => {
    const missing = await unread(part, texts)
    tell(missing)
    return missing.length === 0
  })
}

/** Which texts nobody can read, be it as the text of an element or as the value of a field. */
function unread(part: Locator, texts: readonly string[]): Promise<readonly string[]> {
  return part.evaluate((element, wanted) => {
    const root = element as unknown as Part
    const seen = [root, ...root.querySelectorAll('*')].filter((one) => one.checkVisibility())
    const isHere = (one: Part, text: string) =>
      String(one.value).includes(text) ||
      (one.textContent.includes(text) && ![...one.children].some((child) => child.textContent.includes(text)))
    return wanted.filter((text) => !seen.some((one) => isHere(one, text)))
  }, texts)
}

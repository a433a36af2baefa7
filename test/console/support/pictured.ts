import type { Page } from 'playwright-core'

/** Keeps pictures of a page in all widths in the folder `SCREENSHOTS`, for people who want to look at it. */
export async function pictured(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder === undefined) return
  for (const width of [1920, 1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true })
  }
}

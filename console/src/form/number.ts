/** The number that somebody types: `1,000` has a comma between its thousands, as numbers are shown here, `0,5` a decimal one. */
export function numberOf(text: string): number {
  const isGrouped = /^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$/.test(text)
  return Number(isGrouped ? text.replaceAll(',', '') : text.replace(',', '.'))
}

// Runs before the first paint: the page never flashes in the other scheme.
{
  const chosen = localStorage.getItem('sluice-scheme')
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
}

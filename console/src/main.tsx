import '@mantine/core/styles/baseline.layer.css'
import '@mantine/core/styles/default-css-variables.layer.css'
import '@mantine/core/styles/global.layer.css'
import '@mantine/core/styles/UnstyledButton.layer.css'
import './app/tokens.css'
import './app/base.css'
import './api/setup-token.ts'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { onOutdated } from './api/ask.ts'
import { heldSession, onSession, sharedSession } from './api/session.ts'
import { onSilence, secondsOfSilence } from './api/silence.ts'
import { router } from './app/router.tsx'
import { theme, variables } from './app/theme.ts'
// Whoever signs out leaves no key behind, whatever page he is on.
import './parts/useKey.ts'

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
setNonce(nonce)

// A gateway on this machine or in this house answers without the internet, too.
const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 5_000, networkMode: 'always' } },
})
onSilence(() => {
  if (secondsOfSilence() === null) void queries.refetchQueries({ type: 'active' })
})
onOutdated(() => void queries.invalidateQueries())
let member = heldSession()?.user.id
// What one member may read is nobody else's.
onSession(() => {
  const next = heldSession()?.user.id
  if (next !== undefined && next !== member) queries.clear()
  member = next
})
const root = document.querySelector('#root')
if (!root) throw new Error('the page has no #root')
await sharedSession()
createRoot(root).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={variables}
    getStyleNonce={() => nonce}
    defaultColorScheme="auto"
    colorSchemeManager={localStorageColorSchemeManager({ key: 'sluice-scheme' })}
  >
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
)

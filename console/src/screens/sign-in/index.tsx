import { useRouter } from '@tanstack/react-router'
import { heldSession } from '../../api/session.ts'
import { targetOf, useAddress } from '../../parts/search.ts'
import { Door } from '../../parts/Door.tsx'
import { SignInForm } from '../../parts/SignInForm.tsx'

const words = {
  title: 'Sign in',
} as const

/** Signs in, and goes on to where the link pointed. */
export default function SignIn() {
  const [search] = useAddress()
  const router = useRouter()
  const goOn = () => {
    const pending = heldSession()?.user.must_change_password
    const to = targetOf(search)
    return pending ? router.navigate({ to: '/new-password', search: { to } }) : router.navigate({ href: to })
  }
  return (
    <Door title={words.title}>
      <SignInForm onDone={goOn} />
    </Door>
  )
}

import { useRouter } from '@tanstack/react-router'
import { targetOf, useAddress } from '../../parts/search.ts'
import { Door } from '../../parts/Door.tsx'
import { ChangePassword } from '../../parts/ChangePassword.tsx'

const words = {
  title: 'New password',
  text: 'Somebody else chose your password. Choose one that only you know.',
} as const

/** Asks members for a password of their own before anything else. */
export default function NewPassword() {
  const [search] = useAddress()
  const router = useRouter()
  return (
    <Door title={words.title} text={words.text}>
      <ChangePassword onDone={() => router.navigate({ href: targetOf(search) })} />
    </Door>
  )
}

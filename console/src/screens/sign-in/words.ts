export const words = {
  title: 'Sign in',
} as const

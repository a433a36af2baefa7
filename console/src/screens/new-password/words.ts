export const words = {
  title: 'New password',
  text: 'Somebody else chose your password. Choose one that only you know.',
} as const

/** The 1,000 commonest passwords of at least eight characters, in lower case; with all common ones of twelve and more. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  0.0.0.000 01011970 01011980 01011981 01011985 01011986 01011988 01011989 01011990 01011991 01012000 01012001
  01012010 01012011 010203040506 01234567890123 012345678910 0123456789ab 014702580369 01telemike01 098765432109
  0987654321098 102030405060 1029384756 11111111 1111111111zz 11112222 1111222233334444 111222333 111222333000
  111222333444555 11223344 1122334455 112233445566 11235813 1123581321 121212121212 12131415 122333444455555 12312312
  123123123123 123123qweqwe 1232323q 123321123 123321123321 123321456654 123321qweewq 123412341234 12344321 123454321
  1234554321 123456123456 123456654321 12345678 123456782000 1234567887654321 123456789 1234567890 123456789000
  12345678900987654321 123456789012 1234567890123 12345678901234 123456789012345 1234567890123456 1234567890987654321
  1234567890q 1234567890qaz 1234567890qw 1234567890qwe 1234567890qwerty 1234567890zzz 12345678910 123456789101
  123456789123 1234567892000 12345678987654321 123456789987654321 123456789a 123456789abc 123456789asd 123456789q
  123456789qaz 123456789qqq 123456789qwe 123456789qwer 123456789qwerty 123456789z 123456789zxc 1234567a 1234567q
  1234567qwertyu 123456aa 123456qwerty 12345qwert 1234abcd 1234qwer 1234qwerasdf 1234qwerasdfzxcv 123654789 12369874
  123698745 123789456 123qwe123 123qwe456rty 123qweasd 123qweasdzxc 123qwerty 123qwerty123 12qw34er56ty 12qwaszx
  13243546 147258369 147852369 14789632 147896325 15426378 159753456852 18436572 192837465 1a2b3c4d 1a2s3d4f5g6h
  1passwor 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1qa2ws3ed 1qa2ws3ed4rf 1qa2ws3ed4rf5tg
  1qaz2wsx 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qaz2wsx3edc4rfv5tgb 1qaz@wsx3edc 1qazxsw2 1qazxsw23edc 1qazxsw23edcvfr4
  23176djivanfros 25802580 31217221027711 31415926 321654987 32615948worms 41d8cd98f00b 4815162342 4815162342lost
  541233432442 59382113kevinp 73501505 741852963 742617000027 78945612 789456123 89231243658s 89876065093rax 8j4ye3uz
  963852741 987654321012 a1234567 a123456789 a1b2c3d4 a1s2d3f4 a1s2d3f4g5h6 aaaabbbbcccc aabbccddeeff aardvark
  abc12345 abc123456789 abcabcabcabc abcd1234 abcd1234abcd abcdefg12345 abcdefghijkl abcdefghijklm abcdefghijklmnop
  aberdeen access14 achilles adgjmptw admin1234567 admin12345678 admin123admin admin18533362 adminadmin12
  adminadminadmin administrator administrator1 agent007 airborne airforce airplane albatros alejandr aleksandr
  alexande alexandr amadeusptfcor america1 amsterda amsterdam an83546921an13 anaconda andrewjackie anhyeuem
  antananarivu anthony1 apollo13 apple123 applepie aquarius arsenal1 arsenal12345 asdf1234 asdf1234asdf asdfasdf
  asdfasdfasdf asdfgh123456 asdfghjk asdfghjkl asdfghjkl123 asdfghjkl1234 aspirine assassin atlantis auckland2010
  australi avrillavigne azsxdcfv babyblue babydoll babygirl babylon5 backdoor barcelon barcelona barcelona123 baseball
  baseball1234 basketba beefcake bigballs bigdaddy bigmoney billybob billyboy blackcat blackdog blackhaw blackjac
  blahblah blink182 blizzard bltynbabrfwbz bluebird blueeyes bluemoon bobafett bollocks bonehead boomboom boy4u2ownnyc
  bpgjldsgjldthnf brandon1 brighton brooklyn brucelee buckeyes buckshot budlight budweise bulldogs bullseye bunghole
  businessbabe butterfl butterfly butthole cadillac caliente californ caligula candyman cardinal carolina catherin
  cavalier cdtnkfyf chainsaw champion changeme changeme1234 changemechangeme changemenow123 chargers charles1 charlie1
  charlott charlton chelsea1 chelsea12345 cherokee chester1 chevelle chevrole cheyenne chicago1 chicken1 chickens
  chickenwing101 chocolat chrisbln christia christin christop christopher1 cinnamon cjdthitycndj cjkysirj clitoris
  cocacola colombia colorado coltrane combat123654 commando computer computer1234 concrete consumer contortionist
  cooldude corperfmonsy correcthorsebatterystaple corvette cosworth counterstrike cowboys1 crazybab creampie creative
  crusader dannyboy darkness darkside darkstar dbrnjhbz deadhead deepthroat deeznuts default12345 defender deftones
  designer devildog devilmaycry4 dfktynbyf diamond1 diamonds dietcoke digitalprodu dilligaf dingdong dinosaur discover
  dkflbckfd dkflbvbh dkflbvbhjdbx dkflbvbhjdyf doberman dodgeram dolphins domainlock2005 doughboy dragon123456
  drowssap drpepper dthjybrf eastside einstein ekaterina electric elephant elizabet engineer enterpri enterprise
  ericsson eternity excalibu explorer ferrari1 finalfantasy fireball firebird fkmnthyfnbdf fktrcfylh fktrcfylhf
  fktrcfylhjdbx fktrcfylhjdf fktrcfylhjdyf flamingo florida1 flounder flvbybcnhfnjh football football1 football1234
  fordf150 formula1 freckles frederiksberg freedom1 freepass freeuser front242 frontier fyfcnfcbz fynfyfyfhbde
  gandalf1 gangbang gangster garfield gargoyle gateway1 geronimo getmoney gfhjkm123 gfhjkmgfhjkm ghbdtnbr ghbdtnghbdtn
  ghbdtnrfrltkf ghhh47hj7649 ghjcnjgbpltw ghjcnjgfhjkm ghjcnjghjcnj ghjcnjnfr ghjcnjqgfhjkm ghjcnjrdfibyj
  ghjnbdjcnjzybt gjkysqgbpltw gn56gn56 godsmack godzilla goldfish goldstar golfball goodluck goodtime google123456
  gordon24 gotohell greatone greenbay greenday greenlantern gtnhjpfdjlcr guardian guinness halflife hannibal happy123
  happyday hardcore hardrock hd764nw5d7e1vb1 heather1 hedgehog hedimaptfcor hellfire hello123 hellyeah hercules
  highland hollywoo hongkong hotstuff hurrican hyperion iampurehaha2 icecream ihateyou iloveboobies ilovemyfamily
  iloveyou iloveyou1234 iloveyou12345 iloveyouiloveyou immortal infiniti infinity ingodwetrust installdevic
  installsqlst internet internet1234 intrepid intruder iseedeadpeople jackson1 jamesbon jamesbond jamesbond007
  jasmine1 jessica1 johannes jordan23 justdoit justinbieber juventus kamikaze kangaroo karolina katerina kawasaki
  kcj9wx5n kenworth keyboard keystone killbill kingfish kingkong kingston kittycat knickers labrador lacrosse lancelot
  lasvegas leavemealone lesbians letmein1 letmein12345 letmein2 letmeinletmein letmeinplease lhbjkjubz2957704 lifehack
  lightnin lineage2 lionking liverpoo liverpool liverpool123 liverpool1234 logitech lollipop lonestar lonewolf
  longhorn lost4815162342 loverboy lowrider luckydog lytghjgtnhjdcr macdaddy madison1 magicman mailcreated5240
  majestic makaveli mamapapa manchest manchester manchesterunited mandingo maprchem56458 maradona marathon mariners
  marino13 marlboro maryjane massimiliano master123456 matthew1 maurolarastefy maverick meatball meatloaf mechanic
  megadeth megapass melissa1 mercedes meridian mersedes metallic metallica mevefalkcakk michael1 michael12345
  michaeljackson michigan microlab microsof microsoft midnight minecraft minecraft123 minnesota_hp mistress moneyman
  mongoose monkey123456 monopoly montreal morganstanley morpheus mortalkombat motherlode motorola mountain
  msorcloledbr multiplelo munchkin mushroom musicman mustang1 mustangs mypassword123 mypassword1234 ncc1701a ncc1701d
  ncc1701e nebraska needforspeed nemvxyheqdd5oqxyxyzi networkingpe newcastl newproject2004 nhecsyfujkjdt
  nhfdvfnjkju123 nhfycajhvths nightcrawler nintendo nondriversig nuttertools nwo4life oblivion olcrackmaster
  ontheoutside operator overlord p0015123 p030710p$e4o p@ssw0rd1234 pa55w0rd pa55word packers1 paintbal pakistan
  panasoni panasonic panthers pantyhos paradise paraklast1974 pass1234 passport passw0rd passw0rd1234 passwor1
  password password1 password123 password1234 password12345 password123456 password2024 password2025 password2026
  passwordpassword passwords passwordstandard passwort patrick1 patriots pavilion peanutbutter pearljam peekaboo
  penguins penthous peterpan phillies phoenix1 pineappl pingpong pinkfloy platinum playstation2 playstation3 playtime
  plymouth poiuytrewq pokemon1 poohbear poontang porkchop porsche9 portland portugal poseidon precious predator
  presario princess princess1234 ptybnxtvgbjy punisher punkrock punksnotdead q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6
  q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8 q1w2e3r4t5y6u7i8o9p0 qawsedrf qawsedrftgyh qaz123wsx456 qazwsx12 qazwsx123 qazwsxed
  qazwsxedc qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazxswedc qazxswedc123 qazxswedcvfr qwaszxerdfcv qweasdzxc
  qweasdzxc123 qwer1234 qwerasdf qwerasdfzxcv qwert123 qwertasdfgzxcvb qwerty12 qwerty123 qwerty1234 qwerty12345
  qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789 qwertyasdfgh qwertyqwerty qwertyui qwertyuio qwertyuiop
  qwertyuiop10 qwertyuiop12 qwertyuiop123 qwertyuiop1234 qwertyuiop12345 qwertyuiop[] qwertyuiopasdfgh qwertyytrewq
  r2d2c3po ragnarok raiders1 raistlin rammstein rangers1 rasputin rastaman redalert redskins redwings renegade
  residentevil rfnthbyf rfnthbyf1988 rhbcnbyf richard1 rightnow rjirfrgbde roadkill robotech rockhard rockstar
  rolltide romashka rootbeer rootrootroot rush2112 sailboat samantha samsung1 sandiego sanfrancisco sapphire saratoga
  satan666 saun24865709 scarface schoolgirlie scoobydo scooter1 scorpion scotland sebastia secretsecret security
  seemnemaailm seinfeld seminole semperfi sentinel septembe serenity shadow123456 shamrock shaney14 shannon1 sherlock
  showtime simpsons sithlord skittles skorpion skywalke skywalker slapshot slipknot sneakers snickers snoopdog
  snowball snowboar snuggles socrates softball software sojdlg123aljg sonnenschein sonyericsson soso123aljg spanking
  spartans specialinsta spectrum spiderma spiderman spitfire splinter squirrel srinivas stallion starbuck starcraft
  stardust starfire starfish stargate starship startrek starwars steelers stephani stickdaddy77 stingray stinkyfinger
  stocking stonecol stranger stratocaster stripper summer2025!! sundance sunflowe sunnyday sunshine sunshine1234
  super123 superfly superman superman1 superman1234 supersecret1 supersecret123 supersta superstar svetlana sweetpea
  swimming swingers swordfis swordfish syracuse systemofadown tacobell tarheels tazmania technics temppassword
  terminator test1234 test12345678 testtesttest thailand thanatos thankyou thecakeisalie thuglife thunder1
  ticketmaster tommyboy tottenha translator treasure trfnthbyf trombone truelove trustno1 trustno1trustno1 tunafish
  turkey50 twilight ultimate umbrella underdog undertaker unknown12345 vacation valentin valentina valhalla vanhalen
  vanyarespekt verbatim veronika vfhbyfvfhbyf vfhufhbnf vfrcbvrf vfrcbvvfrcbv vfvfvskfhfve viewsonic viktoria
  vkontakte vladimir vladimirovna vladislav warcraft warhammer warhammer40k warriors waterloo wazzkaprivet webmaster
  websolutions websolutionssu webuivalidat weihnachtsbau weihnachtsbaum welcome1 welcome12345 welcome123456 werewolf
  westside westwood whatever whitesox whocares whosyourdaddy wildcats wildfire william1 winter2025!! wolfgang wolfpack
  wolverin wolverine woofwoof wordpass wrangler wrestlin wrinkle1 xxxp455w0rd5 yankees1 yosemite z1x2c3v4b5n6m7
  zaq12wsx zaq1xsw2 zaq1xsw2cde3 zaqwsxcderfv zcfvfzkexifz zeppelin zqjphsyf6ctifgu zxcasdqwe zxcasdqwe123 zxcv1234
  zxcvbn123456 zxcvbnm1 zxcvbnm12345 zxcvbnm123456789
`
    .trim()
    .split(/\s+/),
)

"""English words that customers write with a capital letter without naming anything new, and the words for numbers."""

from __future__ import annotations

_COMMON = """
a about above access account accounts action actually add address addressee admin after afternoon again agent alright
all already also although always am amount an and another any anybody anyone anything anyway apologies appointment
appreciate are area as ask asked at available back balance bank bear because been before being best better bill
billing birth book booked booking both box business but buy by bye call can cancel cancellation cannot can't card care
case cause certainly change charge cheers chat check city claim class clear close code colour company complaint
confirm confirmed confirmation contact contract correct correction could country course coverage credit currently
customer damage date day days dear deal deductible delivery deposit desk details did didn't different digit digits do
document does doesn't doing done don't door drop due each early easy either else email e-mail employee end enough
error even evening every everything exactly exception excellent except expense extension fair fault fee few file final
fine first flight follow following for form forget forward free from full fully further get gift give given glad go
goes going gone good goodbye got great guest had half happy has hasn't have haven't having he hello help her here hey
hi him his hmm hold holiday holder home honestly hotel house how however human hurry i i'd i'll i'm i've identity if
immediately in including indeed info information instead insurance insured internet interesting into invoice is isn't
issue it it'd it'll it's item items its job just keep kept kind kindly know label laptop last late later latest leave
left less let let's letter licence like line link list little location login look looking lost lot love ma'am madam
made mail main make man manager many matter may maybe me mean meanwhile member membership message mine minute miss
mobile model moment money month months more morning most move much must my name need needed never new next nice night
no nobody none nope not note nothing now number of off offer office oh ok okay old on once one online only open opened
option or order orders other our out outside over owner package page paid pardon part password pay payment people per
perfect perfectly perhaps person personnel phone piece pin place plan please plus policy possible post postal postcode
price priority probably problem process product project promise properly purchase put quantity question quick quickly
quite rather read ready really reason receipt received record reference refund registered regarding regards remove
rental repair replace replacement request reservation reset resolve return returns right room safe said same say
second security see seems send sent serial service session set several shall she shipping shop should shouldn't show
simply since sincerely sir so some somebody someone something soon sorry speaking staff standard start state status
still stop store street such suite supervisor support sure system take team tell terms than thank thanks that that'd
that'll that's the their them then there there's therefore these they thing things think third this those though
through thus ticket till time title to today together tomorrow tonight too total tracking transfer travel trip true
try turn twice type under understand understood unfortunately unit until up update urgent us use user username usually
valid value very via visit wait waiting want wanted warranty was wasn't way we website week weekend weeks well went
were what what's whatever when where whether which while who whole whom whose why will wish with without won't wonder
wonderful work works would wouldn't wow write wrong yeah year years yep yes yesterday yet you you'd you'll you're
you've your yours zip ah aha alas awesome absolutely agreed brilliant cool correct definitely exactly fantastic lovely
nah noted ouch phew seriously superb sweet uh um ugh right-o yay
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
october november december
accept added adding additional agree agreeing alternatively anytime apparently arrived believe besides bought bring
broken changed checking come considering damaged deliver delivered depends driving everybody everyone excuse explain
finally find finished fix found frankly getting gladly guess hang hardly hopefully hoping however ideally keeping
leaving living look lately luckily making meaning mostly moving naturally neither nearly need nor obviously okay-ish
ordered ordering originally otherwise overall paying personally pickup picking previously provided quite recently
sadly seeing sending separately short similar simple sometimes speak stay stick stopped store suddenly suppose surely
taking talk technically telling thankfully thinking touch totally tried trying turns typically unless unlike until
upgrade using wanting weird whenever wherever whichever working worth
"""
_CAPITALISED = """
i i'd i'll i'm i've ok mr mrs ms dr miss sir madam god english internet wifi wi-fi asap fyi pdf id ids faq usa us uk eu
usd eur gbp chf vpn pin rma sms vip tv pc it hr crm iban bic dob eta etc ps nb tbh btw imo thx pls plz lol omg am pm
cc bcc iphone android windows mac
not now never please must need very all only yes no and or but the this that again today stop really still cannot can't
won't don't do have has is are was will why what when who how ever just again immediately already exactly nothing
everything none both same also even always too so more less wrong right new old
"""

_NOT_A_NAME = """
not on in the as under spelled spelt already a an correct wrong right what it that this for same still also with and but
attached there or registered
"""
_NUMBER_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
"""

_WEAK = """
just like have had get got been very really please think know want need still also then there here one ones some any
anything nothing nobody none yes no not don does did is are was were would will can could my mine me its thing things
way make made take other others only most mostly
"""

_STOP = """
a an the and or of for to in on at by with about from as if when that this it they them he she him her his their its
is are was were be been being has have had do does did will would can could may might shall should must not no any
some i you we your my our me us bot agent assistant customer user told tells tell asked asks ask asking says say said
offered offers offer offering informed informs inform wants want proposes propose proposed explains explain explained
mentions mention mentioned
"""

# Words of a reaction's `when` that describe the situation and not what the bot says.
STOP = frozenset(_STOP.split())
# Words that carry nothing of a fact.
WEAK = frozenset(_WEAK.split())
NUMBER_WORDS = tuple(_NUMBER_WORDS.split())
NOT_A_NAME = frozenset(_NOT_A_NAME.split())
COMMON = frozenset(_COMMON.split())
CAPITALISED = frozenset(_CAPITALISED.split())

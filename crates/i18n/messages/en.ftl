# What the public pages, and the emails to guests, say.
#
# Texts in braces are filled in: keep their names. Every language has the same messages with the same names in braces; a
# test checks it. A host's or a guest's own words are never translated.

### Every page

skip = Skip to the content
footer-booking = Booking by Kalends
footer-console = Calendars by Kalends
footer-invitation = Invitation by Kalends
language = Language
optional = (optional)
error-title = Error: { $title }
place = Place
call = Call
place-label = Place:
call-label = Call:

### Times

# Stands between two times, or between a time and a date.
time-to = to
# A booking or an event within a day.
when-times = { $date }, { $start } to { $end } ({ $zone })
# From a time on one day to a time on another.
when-days = { $date }, { $start } to { $last }, { $end } ({ $zone })
when-all-day = { $date }, all day
when-all-days = { $date } to { $last }, all day
# From one date to another.
dates = { $date } to { $last }
all-day = All day
minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
hours = { $count ->
    [one] { $count } hour
   *[other] { $count } hours
}
hours-and-minutes = { $hours } { $minutes }

### The page of a host: days and times to choose from

book-a-time = Book a time
title-with-host = { $title } with { $host }
online = Online. You get the link after you book.
months = Months
previous-month = Previous month
next-month = Next month
# The next two are read out by screen readers.
step-to-month = { $step }, { $month }
heading-with-count = { $heading }, { $count }
today = { $day }, today
free-days = { $count ->
    [0] no free days
    [one] { $count } free day
   *[other] { $count } free days
}
free-times = { $count ->
    [0] no free times
    [one] { $count } free time
   *[other] { $count } free times
}
times-are-shown-in = Times are shown in
# The button next to a list of time zones. Its longer name for screen readers must contain the short one.
switch = Switch
switch-zone = Switch time zone
hosts-time = Show the host’s time, { $zone }
morning = Morning
afternoon = Afternoon
evening = Evening
nothing-free-in = Nothing is free in { $month }
first-free-day = The first free day is { $day }.
nothing-free = There are no free times at the moment. Times become free again as plans change, so it is worth checking again another day.
move-title = Move your booking: { $title }
move-hint = Choose another time. Until you confirm it, this one stays booked:
zones-here = Here
zones-africa = Africa
zones-america = America
zones-asia = Asia
zones-pacific = Australia and Pacific
zones-europe = Europe
zones-other = Other

### The form of a booking

your-details = Your details
details-title = Your details: { $title }
choose-another = Choose another time
nothing-booked = Nothing is booked yet.
please-correct = Please correct:
name = Your name
email = Your email
email-hint = For the confirmation, with links to cancel or move the booking.
notes = Notes
your-answers = Your answers
choose-one = Choose one
no-answer = No answer
# Label of a field that only robots fill in.
leave-empty = Leave this empty
book-at = Book { $day }, { $time }
problem-required = This is required.
problem-too-long = { $max ->
    [one] Use at most { $max } character.
   *[other] Use at most { $max } characters.
}
problem-email = Enter a full email address, such as name@example.com.
problem-phone = Enter a phone number, such as +49 30 123456.
problem-choice = Choose one of the options.
problem-tick = Tick this box to continue.
problem-other = This cannot be used. Please change it.
problem-answers = The answers are too long together. Please shorten them.

### After a booking

you-are-booked = You are booked
booked-title = Booked: { $title }
moved-heading = Your booking has been moved
moved-title = Moved: { $title }
no-longer-at = It no longer takes place on { $date } at { $time }.
confirmation-sent = A confirmation is on its way to { $address }.
add-to-calendar = Add it to your calendar
calendar-file = Calendar file (.ics)
change-it = Change it
move-it = Move it
cancel-it = Cancel it

### The chosen time is gone

taken = This time was just taken
taken-title = This time was just taken: { $title }
taken-now = { $date }, { $time } is no longer free. Nothing was booked for you.
taken-unmoved = { $date }, { $time } is no longer free. Your booking has not been moved.
nearest-times = The nearest free times
none-left = No other time is free at the moment.
book-instead = Book this instead
choose-this = Choose this
input-kept = What you entered is kept.
times-are-in = Times are in { $zone }.
see-all-times = See all free times

### Moving a booking

confirm-move-title = Confirm the new time: { $title }
confirm-move = Move your booking to this time?
currently-at = It is currently on { $date } at { $time }. That time becomes free for others.
move-button = Move the booking

### Cancelling a booking

cancel-question = Cancel this booking?
booked-by = Booked by { $name }. The time becomes free for others.
cancelled-now = Your booking is cancelled
cancelled-now-text = The time is free for others. You do not need to do anything else.
cancelled-before = This booking was already cancelled
cancelled-before-text = It will not take place. You do not need to do anything else.
past = This booking can no longer be changed
past-text = It has already started, or is over. Please write to the host if something has changed.
cancel-button = Cancel the booking
move-instead = Move it instead
keep-it = If you want to keep it, just close this page.
book-another = Book another time

### Whether a host gets emails about bookings

emails-title = Emails about bookings: { $title }
emails-heading = Emails about bookings
emails-asked = { $organization } wants to send you an email when somebody books, moves or cancels a time on the page “{ $title }”.
emails-question = Do you want these emails at { $address }?
emails-sent = You get an email at { $address } when somebody books, moves or cancels a time on the page “{ $title }”.
emails-stopped = You get no emails at { $address } about bookings on the page “{ $title }”.
emails-send = Send these emails
emails-refuse = Do not send them
emails-stop = Stop these emails
emails-hint = You can change this here at any time.

### Where replies to emails go

replies-heading = Replies to emails
replies-question = { $organization } wants replies to its emails, such as invitations, to go to { $address }. Do you agree?
replies-agreed = Replies to the emails of { $organization } go to { $address }.
replies-stopped = Replies to the emails of { $organization } do not go to { $address }.
replies-agree = Receive replies here
replies-refuse = Do not receive them
replies-stop = Stop receiving replies

### Invitations

invitation-title = Invitation: { $title }
invites-you = { $organizer } invites you
you-accepted = You accepted.
you-replied-maybe = You replied: maybe.
you-declined = You declined.
reply-recorded = Your reply is recorded. You can change it here at any time before the event is over.
reply-changeable = You can change your reply below.
event-cancelled = This event is cancelled.
event-cancelled-text = There is nothing for you to do.
event-over = This event is over.
event-over-text = It no longer takes replies.
event-repeats = This event repeats. It begins on this date, and your reply is for all of its dates.
reply-not-recorded = Your reply is not recorded.
choose-a-reply = Please choose one of the three replies.
note-to-organizer = Note to the organizer
accept = Accept
maybe = Maybe
decline = Decline
reply-as = You reply as { $email }. The organizer sees your reply and your note; other guests do not.

### Instead of a page

no-page = There is no booking page here
no-page-text = The address may be mistyped or cut short, or the page has been taken down.
no-page-advice = Please ask the person who sent you the link for a new one. Existing bookings are not affected.
no-console-page = There is no page here
no-console-page-text = The address may be mistyped or cut short.
go-to-console = Go to the console
not-accepted = That could not be done
not-accepted-text = The form may be out of date, or may come from another page. Go back, load the page again, and retry.
other-address = This page was opened at another address
other-address-text = Open it at { $address }, and try again.
closed = Booking is closed for now
closed-text = No more bookings can be taken at the moment. Existing bookings are not affected.
closed-advice = Please try again another day, or write to the person you want to meet.
no-booking = This link does not lead to a booking
no-booking-text = The link may be cut short, or the booking was removed. Please use the whole link from your confirmation.
not-moved = This booking cannot be moved
not-moved-text = The page on which you booked no longer takes bookings, or is switched off. Your booking is not affected. You can cancel it with the link from your confirmation.
no-invitation = This link does not lead to an invitation
no-invitation-text = The link may be cut short, the event may have been deleted, or you are no longer invited.
no-invitation-advice = Please use the whole link from the latest email about the event.
no-reply-link = This link does not work any more
no-reply-link-text = It may be cut short, a newer email may have replaced it, or it has expired. Nothing changes.
no-reply = Your reply was not recorded
no-reply-text = Please open the link from the email again, and choose one of the replies.
too-many = One moment, please
too-many-text = Many requests have come from your network in a short time.
too-many-seconds = { $count ->
    [one] Please wait a second and try again. Nothing has changed.
   *[other] Please wait { $count } seconds and try again. Nothing has changed.
}
too-many-minutes = { $count ->
    [one] Please wait a minute and try again. Nothing has changed.
   *[other] Please wait { $count } minutes and try again. Nothing has changed.
}
not-offered = This time cannot be booked
not-offered-text = The link names a time that this page does not offer. Please choose one of the free times.
failed = Something went wrong on our side
failed-text = Your request could not be completed. Please try again in a minute.
failed-number = If it happens again, give the host this number: { $number }
see-free-times = See the free times

### Emails to guests. Each begins with the greeting, and ends with the signature.

mail-greeting = Hello,
mail-signature = Kalends, the calendar backend for agents. It does not read replies.
mail-booking = your booking "{ $title }"
mail-booking-with = your booking "{ $title }" with { $host }
mail-booked-subject = Your booking is confirmed
# { $booking } is mail-booking or mail-booking-with, at the beginning of the sentence after the greeting.
mail-booked = { $booking } is confirmed for { $when }.
mail-moved-subject = Your booking was moved
mail-moved = { $booking } was moved. It takes place on { $when }.
mail-reminder-subject = Reminder: { $title }
mail-reminder = { $booking } takes place on { $when }.
mail-cancelled-subject = Your booking is cancelled
mail-cancelled = { $booking } for { $when } is cancelled. There is nothing to do.
mail-called-off-subject = Your booking was cancelled
mail-called-off = { $booking } for { $when } was cancelled by the host.
mail-host-writes = The host writes:
mail-book-another = To book another time, go to
mail-move = To choose another time, go to
mail-cancel = To cancel it, go to
mail-links-are-secret = Anyone with these links can do so: do not forward this message. If you did not book this, somebody entered your address by mistake; cancel the booking, or ignore this message.
mail-place = Place: { $place }
mail-call = Call:
# In the guest's calendar, before the link that moves the booking.
calendar-move = To take another time:

# What the public pages, and the emails to guests, say.
#
# Texts in braces are filled in: keep their names. Every language has the same messages with the same names in braces; a
# test checks it. A host's or a guest's own words are never translated.

### Every page

skip = 本文へ移動
footer-booking = Kalends の予約サービス
footer-console = Kalends のカレンダー
footer-invitation = Kalends の招待サービス
language = 言語
optional = （任意）
error-title = エラー: { $title }
place = 場所
call = 通話
place-label = 場所:
call-label = 通話:

### Times

# Stands between two times, or between a time and a date.
time-to = 〜
# A booking or an event within a day.
when-times = { $date } { $start }〜{ $end }（{ $zone }）
# From a time on one day to a time on another.
when-days = { $date } { $start }〜{ $last } { $end }（{ $zone }）
when-all-day = { $date }（終日）
when-all-days = { $date }〜{ $last }（終日）
# From one date to another.
dates = { $date }〜{ $last }
all-day = 終日
minutes = { $count }分
hours = { $count }時間
hours-and-minutes = { $hours }{ $minutes }

### The page of a host: days and times to choose from

book-a-time = 日時を予約
title-with-host = { $title }（{ $host }）
online = オンライン。リンクは予約後にお知らせします。
months = 月の切り替え
previous-month = 前の月
next-month = 次の月
# The next two are read out by screen readers.
step-to-month = { $step }、{ $month }
heading-with-count = { $heading }、{ $count }
today = { $day }、今日
free-days = { $count ->
    [0] 空いている日はありません
   *[other] 空いている日が{ $count }日あります
}
free-times = { $count ->
    [0] 空いている時間はありません
   *[other] 空いている時間: { $count }件
}
times-are-shown-in = タイムゾーン
# The button next to a list of time zones. Its longer name for screen readers must contain the short one.
switch = 切り替え
switch-zone = タイムゾーンの切り替え
hosts-time = 主催者の時間で表示: { $zone }
morning = 午前
afternoon = 午後
evening = 夕方以降
nothing-free-in = { $month }に空きはありません
first-free-day = 最初に空いている日は{ $day }です。
nothing-free = 現在、空いている時間はありません。予定が変わると空きが出ることがあります。日を改めてご確認ください。
move-title = 予約の日時変更: { $title }
move-hint = 別の日時を選んでください。確定するまで、現在の予約はそのまま残ります:
zones-here = このページ
zones-africa = アフリカ
zones-america = アメリカ
zones-asia = アジア
zones-pacific = オーストラリア・太平洋
zones-europe = ヨーロッパ
zones-other = その他

### The form of a booking

your-details = 予約者の情報
details-title = 予約者の情報: { $title }
choose-another = 別の日時を選ぶ
nothing-booked = 予約はまだ完了していません。
please-correct = 次の項目を修正してください:
name = お名前
email = メールアドレス
email-hint = 予約の確認メールをお送りします。キャンセルや日時変更のリンクが含まれます。
notes = 備考
your-answers = 回答
choose-one = 選択してください
no-answer = 回答しない
# Label of a field that only robots fill in.
leave-empty = この欄は空のままにしてください
book-at = { $day } { $time } を予約
problem-required = 入力してください。
problem-too-long = { $max ->
   *[other] { $max }文字以内で入力してください。
}
problem-email = name@example.com のように、正しいメールアドレスを入力してください。
problem-phone = +49 30 123456 のように、電話番号を入力してください。
problem-choice = 選択肢から1つ選んでください。
problem-tick = 続けるにはチェックを入れてください。
problem-other = この内容は使えません。変更してください。
problem-answers = 回答全体が長すぎます。短くしてください。

### After a booking

you-are-booked = 予約が完了しました
booked-title = 予約完了: { $title }
moved-heading = 予約の日時を変更しました
moved-title = 日時変更済み: { $title }
no-longer-at = 変更前の日時（{ $date } { $time }）は取り消されました。
confirmation-sent = 確認メールを { $address } にお送りします。
add-to-calendar = カレンダーに追加
calendar-file = カレンダーファイル (.ics)
change-it = 予約の変更
move-it = 日時を変更
cancel-it = キャンセル

### The chosen time is gone

taken = この日時はたった今埋まりました
taken-title = この日時はたった今埋まりました: { $title }
taken-now = { $date } { $time } はもう空いていません。予約は完了していません。
taken-unmoved = { $date } { $time } はもう空いていません。予約の日時は変わっていません。
nearest-times = 近い日時の空き
none-left = 現在、ほかに空いている時間はありません。
book-instead = この日時を予約
choose-this = この日時を選ぶ
input-kept = 入力内容は残っています。
times-are-in = タイムゾーン: { $zone }
see-all-times = 空いている時間をすべて見る

### Moving a booking

confirm-move-title = 新しい日時の確認: { $title }
confirm-move = 予約をこの日時に変更しますか？
currently-at = 現在の予約: { $date } { $time }。変更すると、元の日時はほかの人が予約できるようになります。
move-button = 日時を変更する

### Cancelling a booking

cancel-question = この予約をキャンセルしますか？
booked-by = 予約者: { $name }。キャンセルすると、この時間はほかの人が予約できるようになります。
cancelled-now = 予約をキャンセルしました
cancelled-now-text = この時間はほかの人が予約できます。これ以上の操作は必要ありません。
cancelled-before = この予約はすでにキャンセルされています
cancelled-before-text = この予定は行われません。これ以上の操作は必要ありません。
past = この予約はもう変更できません
past-text = すでに始まっているか、終わっています。変更がある場合は主催者にご連絡ください。
cancel-button = 予約をキャンセルする
move-instead = 日時を変更する
keep-it = 予約を残す場合は、このページを閉じてください。
book-another = 別の日時を予約

### Whether a host gets emails about bookings

emails-title = 予約のお知らせメール: { $title }
emails-heading = 予約のお知らせメール
emails-asked = { $organization } は、ページ「{ $title }」で予約、日時変更、キャンセルがあったときに、あなたへのメール送信を希望しています。
emails-question = { $address } でこのメールを受け取りますか？
emails-sent = ページ「{ $title }」で予約、日時変更、キャンセルがあると、{ $address } にメールが届きます。
emails-stopped = ページ「{ $title }」の予約に関するメールは、{ $address } に届きません。
emails-send = メールを受け取る
emails-refuse = 受け取らない
emails-stop = メールを停止する
emails-hint = この設定はいつでもここで変更できます。

### Where replies to emails go

replies-heading = メールへの返信
replies-question = { $organization } は、招待などのメールへの返信を { $address } で受け取ることを希望しています。同意しますか？
replies-agreed = { $organization } のメールへの返信は { $address } に届きます。
replies-stopped = { $organization } のメールへの返信は { $address } に届きません。
replies-agree = 返信をこのアドレスで受け取る
replies-refuse = 受け取らない
replies-stop = 返信の受け取りを停止する

### Invitations

invitation-title = 招待: { $title }
invites-you = { $organizer } からの招待
you-accepted = 「参加」と返信しました。
you-replied-maybe = 「未定」と返信しました。
you-declined = 「不参加」と返信しました。
reply-recorded = 返信を記録しました。予定が終わるまで、ここでいつでも変更できます。
reply-changeable = 下で返信を変更できます。
event-cancelled = この予定はキャンセルされました。
event-cancelled-text = 必要な操作はありません。
event-over = この予定は終了しました。
event-over-text = 返信の受付は終了しています。
event-repeats = これは繰り返しの予定です。この日から始まります。返信はすべての回に適用されます。
reply-not-recorded = 返信は記録されていません。
choose-a-reply = 3つの返信から1つ選んでください。
note-to-organizer = 主催者へのメッセージ
accept = 参加
maybe = 未定
decline = 不参加
reply-as = { $email } として返信します。返信とメッセージは主催者に表示され、ほかのゲストには表示されません。

### Instead of a page

no-page = 予約ページが見つかりません
no-page-text = アドレスが間違っているか途中で切れている、またはページが削除された可能性があります。
no-page-advice = リンクを送ってくれた方に、新しいリンクをお尋ねください。すでにある予約に影響はありません。
no-console-page = ページが見つかりません
no-console-page-text = アドレスが間違っているか、途中で切れている可能性があります。
go-to-console = コンソールへ移動
not-accepted = 処理できませんでした
not-accepted-text = フォームが古いか、別のページから送られた可能性があります。前のページに戻り、再読み込みしてからもう一度お試しください。
other-address = このページは別のアドレスで開かれています
other-address-text = { $address } で開いて、もう一度お試しください。
closed = 現在、予約を受け付けていません
closed-text = 現在、新しい予約はできません。すでにある予約に影響はありません。
closed-advice = 日を改めてお試しいただくか、会いたい相手に直接ご連絡ください。
no-booking = このリンクの予約が見つかりません
no-booking-text = リンクが途中で切れているか、予約が削除された可能性があります。確認メールのリンク全体をお使いください。
not-moved = この予約の日時は変更できません
not-moved-text = 予約したページは予約の受け付けを終了したか、停止しています。予約に影響はありません。確認メールのリンクからキャンセルできます。
no-invitation = このリンクの招待が見つかりません
no-invitation-text = リンクが途中で切れているか、予定が削除されたか、招待が取り消された可能性があります。
no-invitation-advice = 予定に関する最新のメールのリンク全体をお使いください。
no-reply-link = このリンクは使えなくなりました
no-reply-link-text = リンクが途中で切れているか、新しいメールのリンクに置き換えられたか、期限が切れています。何も変更されていません。
no-reply = 返信は記録されませんでした
no-reply-text = メールのリンクをもう一度開いて、返信を1つ選んでください。
too-many = 少々お待ちください
too-many-text = お使いのネットワークから、短い時間に多くのアクセスがありました。
too-many-seconds = { $count }秒待ってから、もう一度お試しください。何も変更されていません。
too-many-minutes = { $count }分待ってから、もう一度お試しください。何も変更されていません。
not-offered = この日時は予約できません
not-offered-text = リンクの日時は、このページでは予約を受け付けていません。空いている時間から選んでください。
failed = サーバーで問題が発生しました
failed-text = 処理を完了できませんでした。1分ほどしてから、もう一度お試しください。
failed-number = 繰り返し発生する場合は、この番号を主催者にお伝えください: { $number }
see-free-times = 空いている時間を見る

### Emails to guests. Each begins with the greeting, and ends with the signature.

mail-greeting = こんにちは。
mail-signature = Kalends（AIエージェント向けのカレンダー基盤）。Kalends ではご返信を確認しておりません。
mail-booking = ご予約「{ $title }」
mail-booking-with = ご予約「{ $title }」（{ $host }）
mail-booked-subject = ご予約が確定しました
# { $booking } is mail-booking or mail-booking-with, at the beginning of the sentence after the greeting.
mail-booked = { $booking }が確定しました: { $when }
mail-moved-subject = ご予約の日時が変更されました
mail-moved = { $booking }の日時が変更されました。新しい日時: { $when }
mail-reminder-subject = リマインダー: { $title }
mail-reminder = { $booking }の日時のお知らせです: { $when }
mail-cancelled-subject = ご予約がキャンセルされました
mail-cancelled = { $booking }はキャンセルされました: { $when }。必要な操作はありません。
mail-called-off-subject = ご予約がキャンセルされました
mail-called-off = { $booking }は主催者によってキャンセルされました: { $when }
mail-host-writes = 主催者からのメッセージ:
mail-book-another = 別の日時のご予約はこちら:
mail-move = 日時の変更はこちら:
mail-cancel = キャンセルはこちら:
mail-links-are-secret = これらのリンクを知っている人は誰でも操作できます。このメールは転送しないでください。ご自身で予約していない場合は、誰かが誤ってあなたのアドレスを入力した可能性があります。予約をキャンセルするか、このメールを無視してください。
mail-place = 場所: { $place }
mail-call = 通話:
# In the guest's calendar, before the link that moves the booking.
calendar-move = 日時の変更はこちら:
